import { join } from 'node:path';
import { markPath } from '../workspaces/delta/index/journal-mark.ts';
import { readDelta } from '../workspaces/delta/index/read-delta.ts';
import type { FrozenLayers } from '../workspaces/delta/layers/frozen-layers.ts';
import { Contents } from './contents.ts';
import { verifyMark } from './marks.ts';
import type { Report } from './report.ts';

/** Verifies the delta in `path` of a sandbox's HOME, with its layer, which no other delta shares. It may be absent. */
export async function verifyHome(path: string, sandbox: string, frozen: FrozenLayers, report: Report): Promise<void> {
  const owner = `HOME of ${sandbox}`;
  const [journal, layers] = [join(path, 'journal'), join(path, 'data')];
  await report.attempt(markPath(journal), owner, () => verifyMark(journal, owner, report));
  const delta = await report.attempt(journal, owner, () => readDelta(path, layers, frozen));
  if (delta === undefined) return;
  new Contents(layers, frozen, report).verify(delta.table, owner, { top: delta.top });
  if (delta.index !== undefined) frozen.release(delta.index);
}
