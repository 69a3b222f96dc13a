import { ServiceError } from '../../errors.ts';
import type { HostFile, HostFileReader } from '../../host-tree/host-file.ts';
import { holesIn } from '../../linux/sparse-files.ts';

const CHUNK = 256 * 1024;
/** Most bytes of holes in a file that is read as a whole at the server's pace: they count for no quota. */
const MOST_HOLES = 2 ** 30;

/**
 * Yields the first `size` bytes of a file of a delta or a codebase. Throws ABORTED if it is shorter or was replaced.
 */
export async function* hostFile(file: HostFile, size: number, reader: HostFileReader): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const handle = await reader.open(file);
  if (handle === undefined) throw changed();
  try {
    for (let at = 0; at < size; ) {
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, size - at));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw changed();
      yield chunk.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** Whether reading a file of this size would be, for the most part, to read the zeros of its holes. False: it is gone. */
export async function isMostlyHoles(file: HostFile, size: number, reader: HostFileReader): Promise<boolean> {
  if (size <= MOST_HOLES) return false;
  const handle = await reader.open(file);
  if (handle === undefined) return false;
  try {
    return holesIn(await handle.stat({ bigint: true })) > MOST_HOLES;
  } finally {
    await handle.close();
  }
}

/** The error for a file that was modified or removed during a read of it. */
export function changed(): ServiceError {
  return new ServiceError('ABORTED', 'a file was changed while it was read; try again');
}
