import { ServiceError } from '../errors.ts';
import { diskRoom, type Reserve } from '../linux/disk-room.ts';

/** Bytes that an upload stores before the room is determined again: other writers use it, too. */
const PIECE = 8 << 20;

/** The room that uploads, images and output have on a disk. */
export class UploadRoom {
  readonly #directory: string;
  readonly #reserve: Reserve;

  /** `directory`: on the disk. */
  constructor(directory: string, reserve: Reserve) {
    this.#directory = directory;
    this.#reserve = reserve;
  }

  /** In bytes; Infinity: the disk has no reserve. A disk without a directory yet fails at the first write. */
  get bytes(): number {
    if (this.#reserve === 0) return Number.POSITIVE_INFINITY;
    try {
      return Math.max(0, diskRoom(this.#directory, this.#reserve).free);
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }

  /** For one upload: called with its size before each chunk is stored. Throws RESOURCE_EXHAUSTED. */
  admitting(): (size: number) => void {
    let stored = 0;
    let most = 0;
    return (size) => {
      if (size > most) {
        const room = this.bytes;
        if (size - stored > room) throw noRoom(room);
        most = Math.max(size, stored + Math.min(room, PIECE));
      }
      stored = size;
    };
  }
}

function noRoom(room: number): ServiceError {
  return new ServiceError(
    'RESOURCE_EXHAUSTED',
    `the disk is nearly full: ${room} bytes are left for uploads (storage.reserve_bytes)`,
  );
}
