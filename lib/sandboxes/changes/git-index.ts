import { type ByteString, fromText, joinPath, sliceOf } from '../../byte-string.ts';
import { filtered, forEach } from '../../long-lists.ts';
import type { WorkspaceChange } from '../../workspaces/workspaces.ts';

const REFERENCE = /^((?:.*\/)?\.git\/)(?:HEAD|packed-refs|refs\/.+)$/s;
const INDEX = fromText('index');
const INDEX_PATH = /(?:^|\/)\.git\/index$/;

/** Whether the path is that of the index of a repository. */
export function isGitIndex(path: ByteString): boolean {
  return INDEX_PATH.test(path);
}

/**
 * All changes, where the index of a repository is chosen with its references: with an older index, the next commit of git
 * would remove the files that the new commits added. An index in conflict stays left out.
 */
export async function withGitIndexes(all: WorkspaceChange[]): Promise<WorkspaceChange[]> {
  const indexes = new Set<ByteString>();
  await forEach(all, ({ path, left }) => {
    const found = left === undefined && path.includes('.git/') ? REFERENCE.exec(path) : null;
    if (found !== null) indexes.add(joinPath(sliceOf(path, 0, found[1]!.length - 1), INDEX));
  });
  if (indexes.size === 0) return all;
  const isTaken = ({ path, left, conflict, now }: WorkspaceChange) =>
    left === 'scratch' && now !== undefined && !conflict && indexes.has(path);
  const taken = new Set(await filtered(all, isTaken));
  return all.map((change) => {
    if (!taken.has(change)) return change;
    const { left: _, ...chosen } = change;
    return chosen;
  });
}
