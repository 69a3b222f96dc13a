import { ancestorsOf, type ByteString, splitPath } from '../../../byte-string.ts';
import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { type Inode, WHITEOUT } from './inode.ts';
import { type InodeTable, ROOT_ID } from './inode-table.ts';

/** Inodes examined in one step. */
const ITEMS_PER_STEP = 64;

/**
 * Decides, in steps, which directories from the journal of an older server are opaque: those below whose path the
 * sandbox removed something or moved a directory away.
 */
export function* resolvingMerges(table: InodeTable): Steps<void> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const unknown = new Set<Inode>();
  for (const inode of table.own()) {
    if (inode.isDirectory && inode.merges === undefined) unknown.add(inode);
    if (counter.count()) yield;
  }
  if (unknown.size === 0) return;
  for (const dir of unknown) dir.merges = true;
  const hidden = new Set<ByteString>();
  for (const [path] of table.baseVersions.entries()) {
    for (const above of ancestorsOf(path)) hidden.add(above);
    if (counter.count()) yield;
  }
  for (const { origin } of table.found()) {
    for (const each of origin === undefined ? [] : [origin, ...ancestorsOf(origin)]) hidden.add(each);
    if (counter.count()) yield;
  }
  for (const path of hidden) {
    const dir = directoryAt(table, path);
    if (dir !== undefined && unknown.has(dir)) dir.merges = false;
    if (counter.count()) yield;
  }
}

function directoryAt(table: InodeTable, path: ByteString): Inode | undefined {
  let dir = table.get(ROOT_ID);
  for (const name of splitPath(path)) {
    const entry: Inode | typeof WHITEOUT | undefined = dir?.entries?.get(name);
    if (entry === undefined || entry === WHITEOUT) return undefined;
    dir = entry;
  }
  return dir;
}
