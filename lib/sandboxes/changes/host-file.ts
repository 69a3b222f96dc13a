import { constants } from 'node:fs';
import { open, readlink } from 'node:fs/promises';
import { ServiceError } from '../../errors.ts';
import type { ByteString } from '../../fuse/filesystem.ts';

const CHUNK = 256 * 1024;

/**
 * The first `size` bytes of a host file of a delta or a codebase. ABORTED when there are fewer, or when the path has
 * come to lead elsewhere.
 */
export async function* hostFile(path: ByteString, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  const bytes = Buffer.from(path, 'latin1');
  const handle = await open(bytes, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw changed();
  });
  try {
    const arrived = await readlink(`/proc/self/fd/${handle.fd}`, { encoding: 'buffer' });
    if (!arrived.equals(bytes)) throw changed();
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

export function changed(): ServiceError {
  return new ServiceError('ABORTED', 'a file was changed while it was read; try again');
}
