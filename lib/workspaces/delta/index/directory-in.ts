import type { ByteString } from '../../../byte-string.ts';
import { type Inode, WHITEOUT } from './inode.ts';

/** The directory of the delta that a directory of it has by this name, if any. */
export function directoryIn(above: Inode | undefined, name: ByteString): Inode | undefined {
  const entry = above?.entries?.get(name);
  return entry === undefined || entry === WHITEOUT || !entry.isDirectory ? undefined : entry;
}
