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

/** Memory in bytes that an operation adds, approximately and rather more. */
export function memoryOf(op: Op): number {
  switch (op[0]) {
    case 'new':
      return INODE_BYTES + (typeof op[7] === 'string' ? op[7].length : 0) + (isDirectory(op[3]) ? DIRECTORY_BYTES : 0);
    case 'link':
      return HARD_LINK_BYTES + ENTRY_BYTES + op[2].length;
    case 'hide':
      return ENTRY_BYTES + op[2].length;
    case 'seen':
      return PATH_ROW_BYTES + op[1].length;
    default:
      return 0;
  }
}
