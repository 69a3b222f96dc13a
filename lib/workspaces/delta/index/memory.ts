import type { Op } from './records.ts';

/**
 * Bytes of this process's memory that parts of an index take, as measured (`memory.test.ts`), with what the maps they are
 * in take while they grow. A name's own bytes come on top.
 */
export const INODE_BYTES = 520;
/** A name of an inode, or of what is hidden. */
export const ENTRY_BYTES = 160;
/** What the base had at a path. */
export const SEEN_BYTES = 260;

/** At most so much more is needed when the operations were made. */
export function memoryOf(ops: readonly Op[]): number {
  let bytes = 0;
  for (const op of ops) {
    switch (op[0]) {
      case 'new':
        bytes += INODE_BYTES + (typeof op[7] === 'string' ? op[7].length : 0);
        break;
      case 'link':
      case 'hide':
        bytes += ENTRY_BYTES + op[2].length;
        break;
      case 'seen':
        bytes += SEEN_BYTES + op[1].length;
        break;
    }
  }
  return bytes;
}
