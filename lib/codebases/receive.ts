import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreAbsent } from './disk-errors.ts';

/** Content on disk under a name nobody sees. */
export interface Received {
  /** Open, so that the file can be told from any other after it was moved. */
  handle: FileHandle;
  path: string;
  size: number;
  /** Lower-case hex SHA-256. */
  checksum: string;
}

/**
 * Writes `content` to a new file in `directory`, durable on return. Takes a chunk only when the one before is written.
 * When content or disk fails, nothing is left. Give the result to `discard` in any case.
 */
export async function receive(directory: string, content: AsyncIterable<Uint8Array>, mode: number): Promise<Received> {
  const path = join(directory, randomUUID());
  const handle = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of content) {
      const written = handle.writeFile(chunk);
      // On this thread while another writes.
      hash.update(chunk);
      await written;
      size += chunk.byteLength;
    }
    await handle.chmod(mode);
    await handle.sync();
    return { handle, path, size, checksum: hash.digest('hex') };
  } catch (error) {
    await discard({ handle, path });
    throw error;
  }
}

/** Ends the hold on the content, and removes it unless it was moved to its place. */
export async function discard({ handle, path }: Pick<Received, 'handle' | 'path'>): Promise<void> {
  await handle.close();
  await unlink(path).catch(ignoreAbsent);
}
