import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { type ByteString, fromLatin1 } from '../byte-string.ts';
import { invalidArgument } from '../errors.ts';
import { accessibleMode } from '../host-tree/accessible-mode.ts';
import { Directory } from '../host-tree/directory.ts';
import { ignoreAbsent } from '../linux/errno.ts';
import { giveBack } from '../recycled-buffers.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Content on disk under a temporary name. */
export interface Received {
  /** Open, so that the file can be identified after it was moved. undefined: a symlink. */
  handle: FileHandle | undefined;
  directory: Directory;
  name: ByteString;
  size: number;
  /** Lower-case hex SHA-256. */
  checksum: string;
}

/**
 * Writes `content` to a new file in `directory`; durable when it resolves. Requests a chunk only after the previous one
 * is written, and gives that one back. A failure of content or disk leaves nothing. `admit` is called before each chunk
 * with the resulting size, and throws if that is too large. The caller must pass the result to `discard` in any case.
 */
export async function receive(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  mode: number,
  admit: (size: number) => Promise<void> | undefined,
): Promise<Received> {
  const name = fromLatin1(randomUUID());
  const incoming = await Directory.open(directory);
  const handle = await incoming.open(name, CREATE, 0o600).catch(async (error) => {
    await incoming.close();
    throw error;
  });
  try {
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of content) {
      const admitted = admit(size + chunk.byteLength);
      if (admitted !== undefined) await admitted;
      const written = handle.writeFile(chunk);
      // On this thread, while another one writes.
      hash.update(chunk);
      await written;
      size += chunk.byteLength;
      giveBack(chunk);
    }
    await handle.chmod(accessibleMode(mode, 'file'));
    await handle.sync();
    return { handle, directory: incoming, name, size, checksum: hash.digest('hex') };
  } catch (error) {
    await discard({ handle, directory: incoming, name });
    throw error;
  }
}

/** As `receive`, of a symlink. `content` must be empty: INVALID_ARGUMENT. */
export async function receiveLink(
  directory: string,
  content: AsyncIterable<Uint8Array>,
  target: Buffer,
): Promise<Received> {
  for await (const { byteLength } of content) {
    if (byteLength > 0) throw invalidArgument('symlink_target', 'is for a file without contents');
  }
  const name = fromLatin1(randomUUID());
  const incoming = await Directory.open(directory);
  try {
    await incoming.symlink(target, name);
  } catch (error) {
    await incoming.close();
    throw error;
  }
  const checksum = createHash('sha256').update(target).digest('hex');
  return { handle: undefined, directory: incoming, name, size: target.length, checksum };
}

/** Closes the file, and removes it unless it was moved into place. */
export async function discard({
  handle,
  directory,
  name,
}: Pick<Received, 'handle' | 'directory' | 'name'>): Promise<void> {
  try {
    await handle?.close();
    await directory.unlink(name).catch(ignoreAbsent);
  } finally {
    await directory.close();
  }
}
