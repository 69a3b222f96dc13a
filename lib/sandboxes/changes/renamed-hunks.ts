import type { ByteString } from '../../byte-string.ts';
import { filtered } from '../../long-lists.ts';
import { Subtrees } from '../../subtrees.ts';
import type { ChangeSelection } from '../../workspaces/workspaces.ts';
import { type List, listedFor } from './listed-for.ts';
import type { Ahead, Listed } from './listed-in-pages.ts';

/**
 * As `listedFor`. To choose hunks of a renamed file is to choose its rename: the selection then has the removal at its old
 * path, too. What the sandbox has there instead is another file, which nobody chose.
 */
export async function listedWithRenames(
  chosen: ChangeSelection,
  withHunks: ReadonlySet<ByteString>,
  list: List,
  ahead?: Ahead,
): Promise<Listed & { selection: ChangeSelection }> {
  const found = await listedFor(chosen, list, ahead);
  const subtrees = new Subtrees(chosen.paths);
  const renamed = withHunks.size === 0 ? [] : await filtered(found.listed, ({ path }) => withHunks.has(path));
  const old = renamed
    .flatMap(({ kind, renamedFrom }) => (kind === 'added' ? (renamedFrom ?? []) : []))
    .filter((path) => !subtrees.has(path));
  if (old.length === 0) return { ...found, selection: chosen };
  const all = await listedFor({ ...chosen, paths: [...chosen.paths, ...old] }, list);
  const isOld = new Set(old);
  const removed = await filtered(all.listed, ({ path, now }) => now === undefined && isOld.has(path));
  return { ...all, selection: { ...chosen, paths: [...chosen.paths, ...removed.map(({ path }) => path)] } };
}
