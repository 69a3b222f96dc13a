import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ByteString, fromText, ROOT_PATH, toText } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { isDirectory } from '../../../lib/linux/mode.ts';
import { rebasing } from '../../../lib/sandboxes/changes/rebased-paths.ts';
import type { WorkspaceChange } from '../../../lib/workspaces/workspaces.ts';
import type { Sandbox } from './sandbox.ts';

let commits = 0;

/** What programs do during a commit: before the codebase has the changes, and when the commit was answered, before the rebase. */
interface Meanwhile {
  before?: () => void;
  after?: () => void;
}

/** Commits all changes that the rules permit, as the main thread does, without its journal. Returns their paths. */
export function commitAll(s: Sandbox, resumed = false, { before, after }: Meanwhile = {}): ByteString[] {
  const { id } = s.spec;
  const { changes } = s.fs.changes(id, ROOT_PATH, Number.MAX_SAFE_INTEGER);
  const all = changes.filter(({ writable, hidden, now }) => writable && !hidden && now?.target === undefined);
  const paths = all.map(({ path }) => path);
  const contents = all.map((change) => contentsOf(s, change));
  const settled = complete(rebasing(all, s.fs.renamed(id)));
  before?.();
  s.fs.baseChanging('cb_1', paths);
  for (const { path, now } of all.toReversed()) {
    if (now === undefined) rmSync(join(s.spec.base, toText(path)), { recursive: true, force: true });
  }
  for (const [index, { path, now, base }] of all.entries()) {
    if (now === undefined) continue;
    const at = join(s.spec.base, toText(path));
    if (base === undefined || isDirectory(base.mode) !== isDirectory(now.mode))
      rmSync(at, { recursive: true, force: true });
    if (isDirectory(now.mode)) mkdirSync(at, { recursive: true });
    else {
      rmSync(at, { force: true });
      s.putBase(toText(path), contents[index]!.toString());
    }
  }
  s.fs.baseChanged('cb_1', paths);
  after?.();
  s.fs.rebase(s.spec, {
    commit: `commit${commits++}`,
    stage: 1,
    paths: settled,
    revertPaths: [],
    resumed,
  });
  return paths;
}

function contentsOf(s: Sandbox, { path, now }: WorkspaceChange): Buffer {
  if (now === undefined || isDirectory(now.mode)) return Buffer.alloc(0);
  if (now.isText) return Buffer.from(s.fs.redactedTexts(s.spec.id, path, 'commit').now!);
  if (now.small) return Buffer.from(s.fs.contents(s.spec.id, [now.version![0]])[0]!);
  const { root, path: file } = now.hostFile!;
  return readFileSync(join(String(root), toText(file ?? fromText(''))));
}
