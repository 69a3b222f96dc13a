import { ServiceError } from '../../errors.ts';
import type { HostFile, HostFileReader } from '../../host-tree/host-file.ts';
import { holesIn } from '../../linux/sparse-files.ts';

const CHUNK = 256 * 1024;
/** Most bytes of holes in files that are read as a whole for one answer: they count for no quota. */
const MOST_HOLES = 2 ** 30;
/** Files up to this size, in bytes, are read without a look at their holes. */
const SMALL = 64 * 1024;

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

/** The holes that may be read for one answer, of all its files together. */
export class HolesLeft {
  #bytes = MOST_HOLES;

  /** Takes those of a file. False: it has more than what is left, so it is not read. */
  async take(file: HostFile, size: number, reader: HostFileReader): Promise<boolean> {
    if (size <= SMALL) return true;
    const handle = await reader.open(file);
    // It is gone, which its reader will notice.
    if (handle === undefined) return true;
    try {
      const holes = holesIn(await handle.stat({ bigint: true }));
      if (holes > this.#bytes) return false;
      this.#bytes -= holes;
      return true;
    } finally {
      await handle.close();
    }
  }
}

/** The error for a file that was modified or removed during a read of it. */
export function changed(): ServiceError {
  return new ServiceError('ABORTED', 'a file was changed while it was read; try again');
}
