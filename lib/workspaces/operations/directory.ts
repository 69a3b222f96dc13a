import { type ByteString, DOT, DOT_DOT } from '../../byte-string.ts';
import type { EmitDirent, Entry } from '../../fuse/filesystem.ts';
import { ENOENT, ENOTDIR } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { recordHiddenMiss } from '../access/negative-entries.ts';
import { isVisible, isVisibleNode } from '../access/visibility.ts';
import type { Node } from '../nodes/node.ts';
import { hasForm, isRedacted } from '../redacted/redacted-file.ts';
import type { Workspace } from '../workspace.ts';
import { entryFor, requireDirectory, visibleChild } from './entries.ts';

/** d_type of a directory (readdir(3)). */
export const DT_DIR = S_IFDIR >> 12;

/**
 * LOOKUP. Returns undefined if the name does not exist or is hidden. Throws ENOTDIR, or ENOENT for a hidden or removed
 * directory, and for a file that another of its links hides; Postponed while a large directory is listed.
 */
export function lookup(workspace: Workspace, access: Access, dir: Node, name: ByteString): Entry | undefined {
  requireDirectory(workspace, access, dir);
  workspace.stored.listings.aboutToLookUp(dir);
  const node = visibleChild(workspace, access, dir, name);
  // Not undefined: the kernel would cache that the name is absent, and the rules of another directory decide.
  if (node !== undefined && isHiddenByLink(workspace, access, node)) throw ENOENT;
  if (node !== undefined) return entryFor(workspace, access, node);
  recordHiddenMiss(workspace, dir, name);
  return undefined;
}

/**
 * READDIR and, with `plus`, READDIRPLUS; see `FileSystem.readdir`. Throws ENOTDIR, ENOENT for a hidden directory,
 * EDQUOT if the memory limit does not permit the listing, and Postponed while a large one is built.
 */
export function readdir(
  workspace: Workspace,
  access: Access,
  dir: Node,
  cookie: number,
  plus: boolean,
  emit: EmitDirent,
): void {
  if (!dir.isDirectory) throw ENOTDIR;
  if (!isVisibleNode(access, dir)) throw ENOENT;
  const { listings } = workspace.stored;
  dir.mayHaveStaleAttributes = true;
  // A removed directory that is still open has no entries. Before anything is emitted, as building the listing may
  // throw Postponed.
  const isGone = dir.links.length === 0 && dir !== workspace.tree.root;
  const listing = isGone ? undefined : listings.listed(dir);
  const { numbers } = workspace.tree;
  const ino = numbers.of(dir);
  if (cookie < 1 && !emit(DOT, 1, ino, DT_DIR, undefined)) return;
  const parent = dir.parent ?? dir;
  if (cookie < 2 && !emit(DOT_DOT, 2, numbers.of(parent), DT_DIR, undefined)) return;
  if (listing === undefined) return;
  const allVisible = (access.shownRule(dir).uniformBelow ?? 0) >= VIEW;
  let last = cookie;
  for (const { name, cookie: next, type } of listing.after(cookie)) {
    if (!allVisible && !isVisible(access.ruleOf(dir, name), type === S_IFDIR)) continue;
    const node = visibleChild(workspace, access, dir, name);
    if (node === undefined) continue;
    if (hasLinks(node)) dir.listsLinks = true;
    if (isHiddenByLink(workspace, access, node)) continue;
    // Without attributes, if they would require the invalidation of all its files, or the values of one to be found.
    const isSlow = node.pendingInvalidations !== undefined || (isRedacted(access, node) && !hasForm(workspace, node));
    const entry = plus && !isSlow ? entryFor(workspace, access, node) : undefined;
    const taken = emit(name, next, entry?.attr.ino ?? numbers.of(node), node.type >> 12, entry);
    // The entry did not fit, so the kernel never sends a FORGET for it.
    if (entry !== undefined && !taken) node.nlookup--;
    if (node.nlookup === 0) workspace.tree.free(node);
    if (!taken) {
      if (plus) listings.aboutToList(dir, last, (next) => access.ruleOf(dir, next));
      return;
    }
    last = next;
  }
}

/** Whether the file of a visible path is hidden by the rules of another of its links. A node without use is freed. */
function isHiddenByLink(workspace: Workspace, access: Access, node: Node): boolean {
  if (isVisibleNode(access, node)) return false;
  if (node.nlookup === 0) workspace.tree.free(node);
  return true;
}

function hasLinks({ isDirectory, links, nameCount }: Node): boolean {
  return !isDirectory && (links.length > 1 || nameCount > 1);
}
