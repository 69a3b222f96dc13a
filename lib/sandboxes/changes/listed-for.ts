import { type ByteString, ROOT_PATH } from '../../byte-string.ts';
import { filtered } from '../../long-lists.ts';
import { Subtrees } from '../../subtrees.ts';
import type { Asked } from '../../workspaces/history/changes.ts';
import type { ChangePage, ChangeSelection, OwnDirectory, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { isGitIndex, withGitIndexes } from './git-index.ts';
import { type Ahead, type Listed, listedInPages } from './listed-in-pages.ts';

const ALL = Number.MAX_SAFE_INTEGER;

/** Lists changes of the sandbox. */
export type List = (after: ByteString, limit: number, asked: Asked) => Promise<ChangePage>;

/**
 * The changes that decide what is committed: the chosen ones, and those that are left out above and below the chosen paths.
 * Others need not be listed, of which a sandbox may have a million, unless it has moved a directory: what was moved is
 * committed whole.
 */
export async function listedFor(chosen: ChangeSelection, list: List, ahead?: Ahead): Promise<Listed> {
  let all = await listedAt(chosen, new Subtrees(chosen.paths), list, ahead);
  if (!chosen.paths.includes(ROOT_PATH) && (all.own.some(isMoved) || (await dependsOnOthers(all.listed, chosen))))
    all = await listedAt({ ...chosen, paths: [ROOT_PATH] }, undefined, list);
  return { listed: await withGitIndexes(all.listed), own: all.own };
}

const isMoved = ({ origin, replaces }: OwnDirectory) => origin !== undefined || replaces;

async function listedAt(
  selection: ChangeSelection,
  chosen: Subtrees | undefined,
  list: List,
  ahead?: Ahead,
): Promise<Listed> {
  const asked = { selection, withLeft: true, withContents: ahead !== undefined };
  const page = (after: ByteString, limit: number) => list(after, limit, { ...asked, withOwn: after === ROOT_PATH });
  const listed = ahead && chosen && (await listedInPages(page, chosen, ahead));
  if (listed !== undefined) return listed;
  const { changes, own = [] } = await page(ROOT_PATH, ALL);
  return { listed: changes, own };
}

/**
 * Whether changes elsewhere decide about listed ones: about the index of a repository its references do. And what is left
 * out above a chosen path does not tell whether it is left out as scratch.
 */
async function dependsOnOthers(listed: readonly WorkspaceChange[], { scratch }: ChangeSelection): Promise<boolean> {
  if (scratch) return false;
  const depends = (change: WorkspaceChange) =>
    change.scratch === true && (change.left === 'excluded' || (change.left === 'scratch' && isGitIndex(change.path)));
  return (await filtered(listed, depends)).length > 0;
}
