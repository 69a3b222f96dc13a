import type { Attr } from '../../fuse/filesystem.ts';
import { S_IFDIR, S_IFLNK, S_IFMT } from '../../linux/mode.ts';
import type { Time } from '../../linux/time.ts';
import { NONE, READ, VIEW, WRITE } from '../../permissions/index.ts';
import { knownListing } from '../nodes/merged-listing.ts';
import type { Node } from '../nodes/node.ts';
import type { Workspace } from '../workspace.ts';
import { type Access, ownRule } from './access.ts';
import { tellChildren } from './pending-invalidations.ts';

/** Owner shown for what may not be written: a uid no sandbox has, so that not even a namespace of its own changes it. */
const NOBODY = 65534;
const BLOCK = 4096;
/** Directories tell nothing of how much is in them. */
const DIRECTORY_SIZE = 4096;
const NO_TIME: Time = { sec: 0, nsec: 0 };
/** Base inode numbers are below; one that a copied-up file kept is shown for another base file moved up here. */
const SECOND_USE = 2 ** 50;

/** What stat shows: the kernel enforces these bits by itself, so they say exactly what the rules allow. */
export function attrOf(workspace: Workspace, access: Access, node: Node): Attr {
  const of = node.inode ?? node.base!;
  const directory = node.isDirectory;
  if (directory) tellChildren(workspace, node);
  const hidden = directory && access.level(node) === NONE;
  const size = directory ? DIRECTORY_SIZE : of.size;
  return {
    ino: inoOf(workspace, node),
    size,
    blocks: Math.ceil(size / BLOCK) * (BLOCK / 512),
    atime: hidden ? NO_TIME : of.atime,
    mtime: hidden ? NO_TIME : of.mtime,
    ctime: hidden ? NO_TIME : of.ctime,
    nlink: nlinkOf(workspace, access, node),
    rdev: of.rdev,
    ...ownershipOf(workspace, access, node),
  };
}

export function inoOf(workspace: Workspace, node: Node): number {
  if (node.inode !== undefined) return node.inode.ino;
  const { ino } = node.base!;
  return workspace.delta.table.keeps(ino) ? ino + SECOND_USE : ino;
}

interface Ownership {
  mode: number;
  uid: number;
  gid: number;
}

export function ownershipOf(workspace: Workspace, access: Access, node: Node): Ownership {
  const { spec, tree } = workspace;
  const stored = node.inode ?? node.base!;
  if (spec.anyUid) return { mode: stored.mode, uid: stored.uid, gid: stored.gid };
  const type = stored.mode & S_IFMT;
  const own = { uid: spec.uid, gid: spec.uid };
  if (type === S_IFDIR) {
    const mode = directoryMode(access, node, stored.mode);
    // Nobody else gets past the root, whatever the kernel has cached below it.
    return { ...own, mode: node === tree.root ? mode & ~0o7 : mode };
  }
  if (access.level(node) === WRITE) return { ...own, mode: stored.mode };
  const nobody = { uid: NOBODY, gid: spec.uid };
  if (type === S_IFLNK) return { ...nobody, mode: type | 0o777 };
  if (access.level(node) === READ) return { ...nobody, mode: type | 0o440 | (stored.mode & 0o111 ? 0o110 : 0) };
  return { ...nobody, mode: type };
}

/** Owned by the sandbox even where it may not write (git refuses a tree of somebody else's): the bits say no. */
function directoryMode(access: Access, node: Node, stored: number): number {
  if (access.level(node) === WRITE) return stored;
  return S_IFDIR | (ownRule(access, node).writableBelow ? 0o750 : 0o550);
}

function nlinkOf(workspace: Workspace, access: Access, node: Node): number {
  if (node.isDirectory) return directoryLinks(workspace, access, node);
  if (node.inode !== undefined) return node.inode.names;
  // Links from hidden places are nobody's business: a count is told only where everything is visible.
  const whole = (access.rule(workspace.tree.root).uniformBelow ?? NONE) >= VIEW;
  return node.links.length === 0 ? 0 : whole ? node.base!.nlink : 1;
}

/** 2 and one for each directory in it; 1, "unknown", where some may be hidden or it takes long to count them. */
function directoryLinks(workspace: Workspace, access: Access, node: Node): number {
  const { inode, base, links } = node;
  if (links.length === 0 && node !== workspace.tree.root) return 0;
  if ((access.shownRule(node).uniformBelow ?? NONE) < VIEW) return 1;
  if (inode === undefined) return base!.nlink;
  if (node.basePath === undefined) return 2 + inode.subdirs;
  const listing = knownListing(workspace, node);
  return listing === undefined ? 1 : 2 + listing.subdirs;
}
