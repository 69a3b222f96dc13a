import { statfsSync } from 'node:fs';

/** `storage.reserve_bytes`: room of a disk that only the server may use, in bytes. */
export type Reserve = number | 'auto';

const MOST_BY_DEFAULT = 2 ** 30;
const PART_BY_DEFAULT = 20;

/** Free bytes of a disk beside its reserve, negative if a part of that is used. */
export interface DiskRoom {
  free: number;
  reserve: number;
}

/**
 * Returns the room of the disk of `path`. `auto`: a reserve of 5 %, at most 1 GiB. Throws host errors. A file
 * system that does not tell its size, like some of networks, has no reserve: nothing is known of its room.
 */
export function diskRoom(path: string, reserve: Reserve): DiskRoom {
  const { bavail, blocks, bsize } = statfsSync(path);
  if (blocks === 0) return { free: Number.POSITIVE_INFINITY, reserve: 0 };
  const kept = reserve === 'auto' ? Math.min(MOST_BY_DEFAULT, Math.floor((blocks * bsize) / PART_BY_DEFAULT)) : reserve;
  return { free: bavail * bsize - kept, reserve: kept };
}
