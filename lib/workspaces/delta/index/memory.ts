import { isDirectory } from '../../../linux/mode.ts';
import type { Op } from './records.ts';

/**
 * Memory of the parts of an index in bytes, as measured (`memory.test.ts`), including the growth of the maps that
 * hold them. The bytes of names are added.
 */
export const INODE_BYTES = 225;
/** Additional memory of a directory: the map of its entries. */
export const DIRECTORY_BYTES = 260;
/** A directory entry or whiteout. */
export const ENTRY_BYTES = 85;
/** Each hard link after the first. */
export const HARD_LINK_BYTES = 60;
/** A row of a path with a base version, or of a directory above one. */
export const PATH_ROW_BYTES = 75;
/** A page of inodes. */
export const PAGE_BYTES = 400;

/** Memory in bytes that operations add, approximately and rather more. */
export function memoryOf(ops: Iterable<Op>): number {
  let bytes = 0;
  for (const op of ops) {
    switch (op[0]) {
      case 'new':
        bytes +=
          INODE_BYTES + (typeof op[7] === 'string' ? op[7].length : 0) + (isDirectory(op[3]) ? DIRECTORY_BYTES : 0);
        break;
      case 'link':
        bytes += HARD_LINK_BYTES + ENTRY_BYTES + op[2].length;
        break;
      case 'hide':
        bytes += ENTRY_BYTES + op[2].length;
        break;
      case 'seen':
        bytes += PATH_ROW_BYTES + op[1].length;
        break;
    }
  }
  return bytes;
}
