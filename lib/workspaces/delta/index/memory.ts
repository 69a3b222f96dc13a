import { isDirectory } from '../../../linux/mode.ts';
import type { Op } from './records.ts';

/**
 * Bytes of this process's memory that parts of an index take, as measured (`memory.test.ts`), with what the maps they are
 * in take while they grow. A name's own bytes come on top.
 */
export const INODE_BYTES = 320;
/** What a directory takes besides: the map of its entries. */
export const DIRECTORY_BYTES = 220;
/** A name of an inode, or of what is hidden. */
export const ENTRY_BYTES = 90;
/** Each name but the first of a file, besides. */
export const HARD_LINK_BYTES = 40;
/** What the base had at a path. */
export const BASE_VERSION_BYTES = 120;

/** At most so much more is needed when the operations were made. */
export function memoryOf(ops: readonly Op[]): number {
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
        bytes += BASE_VERSION_BYTES + op[1].length;
        break;
    }
  }
  return bytes;
}
