import type { ByteString } from '../../byte-string.ts';
import type { EmitDirent, Entry } from '../../fuse/filesystem.ts';
import { ENOENT, ENOTDIR } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { VIEW } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';
import { inoOf } from '../access/attr.ts';
import { deny } from '../access/negative-entries.ts';
import { isVisible, isVisibleNode } from '../access/visibility.ts';
import { mergedListing } from '../nodes/merged-listing.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { enter, requireDirectory, visibleChild } from './entries.ts';

export const DT_DIR = S_IFDIR >> 12;

export function lookup(workspace: Workspace, access: Access, dir: Node, name: ByteString): Entry | undefined {
  requireDirectory(workspace, access, dir);
  const node = visibleChild(workspace, access, dir, name);
  if (node !== undefined) return enter(workspace, access, node);
  deny(dir, name);
  return undefined;
}

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
  // Removed while somebody is in it: there is nothing left to list. Before anything is emitted: it may be Postponed.
  const isGone = dir.links.length === 0 && dir !== workspace.tree.root;
  const listing = isGone ? undefined : mergedListing(workspace, dir);
  const ino = inoOf(workspace, dir);
  if (cookie < 1 && !emit('.', 1, ino, DT_DIR, undefined)) return;
  const parent = dir.parent ?? dir;
  if (cookie < 2 && !emit('..', 2, inoOf(workspace, parent), DT_DIR, undefined)) return;
  if (listing === undefined) return;
  const allVisible = (access.shownRule(dir).uniformBelow ?? 0) >= VIEW;
  for (const { name, cookie: next, type } of listing.after(cookie)) {
    if (!allVisible && !isVisible(access.ruleOf(dir, name), type === S_IFDIR)) continue;
    const node = visibleChild(workspace, access, dir, name);
    if (node === undefined) continue;
    // Without attributes: giving them takes telling of all its files.
    const entry = plus && node.untoldChildren === undefined ? enter(workspace, access, node) : undefined;
    const taken = emit(name, next, entry?.attr.ino ?? inoOf(workspace, node), node.type >> 12, entry);
    // What did not fit was not told to the kernel, so the kernel will never forget it.
    if (entry !== undefined && !taken) node.nlookup--;
    if (node.nlookup === 0) workspace.tree.free(node);
    if (!taken) return;
  }
}
