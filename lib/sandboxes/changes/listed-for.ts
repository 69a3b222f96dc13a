import { type ByteString, ROOT_PATH } from '../../byte-string.ts';
import { filtered } from '../../long-lists.ts';
import { Subtrees } from '../../subtrees.ts';
import type { Asked } from '../../workspaces/history/changes.ts';
import type { ChangePage, ChangeSelection, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { isGitIndex, withGitIndexes } from './git-index.ts';
import { type Ahead, listedInPages } from './listed-in-pages.ts';

const ALL = Number.MAX_SAFE_INTEGER;

/** Lists changes of the sandbox. */
type List = (after: ByteString, limit: number, asked: Asked) => Promise<ChangePage>;

/**
 * The changes that decide what is committed: the chosen ones, and those that are left out above and below the chosen paths.
 * Others need not be listed, of which a sandbox may have a million, unless it has moved a directory: what was moved is
 * committed whole.
 */
export async function listedFor(
  chosen: ChangeSelection,
  own: readonly OwnDirectory[],
  list: List,
  ahead?: Ahead,
): Promise<WorkspaceChange[]> {
  const isMoved = own.some(({ origin, replaces }) => origin !== undefined || replaces);
  const narrow = isMoved ? { ...chosen, paths: [ROOT_PATH] } : chosen;
  let listed = await listedAt(narrow, new Subtrees(chosen.paths), list, ahead);
  if (await dependsOnOthers(listed, narrow))
    listed = await listedAt({ ...chosen, paths: [ROOT_PATH] }, undefined, list);
  return withGitIndexes(listed);
}

async function listedAt(
  selection: ChangeSelection,
  chosen: Subtrees | undefined,
  list: List,
  ahead?: Ahead,
): Promise<WorkspaceChange[]> {
  const asked = { selection, withLeft: true, withContents: ahead !== undefined };
  const page = (after: ByteString, limit: number) => list(after, limit, asked);
  const listed = ahead && chosen && (await listedInPages(page, chosen, ahead));
  return listed ?? (await page(ROOT_PATH, ALL)).changes;
}

/**
 * Whether changes elsewhere decide about listed ones: about the index of a repository its references do. And what is left
 * out above a chosen path does not tell whether it is left out as scratch.
 */
async function dependsOnOthers(
  listed: readonly WorkspaceChange[],
  { paths, scratch }: ChangeSelection,
): Promise<boolean> {
  if (scratch || paths.includes(ROOT_PATH)) return false;
  const depends = (change: WorkspaceChange) =>
    change.scratch === true && (change.left === 'excluded' || (change.left === 'scratch' && isGitIndex(change.path)));
  return (await filtered(listed, depends)).length > 0;
}
