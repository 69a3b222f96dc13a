import { setImmediate } from 'node:timers/promises';
import type { Threads } from '../threads/thread-pool.ts';
import { decompressed } from './decompress.ts';
import type { Unzstd } from './unzstd.ts';

/** Writers pad archives to complete records. */
const MAX_PADDING = 1 << 20;

/**
 * Passes an archive, decompressed and piece by piece, to `feed`, which returns whether the end of the archive was read.
 * What follows is read, so that the sender can finish before it reads the answer, but at most 1 MiB of it. Other events are
 * handled between the pieces, as many may have arrived.
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  threads: Threads<Unzstd>,
  feed: (piece: Buffer) => Promise<boolean>,
): Promise<void> {
  let isDone = false;
  let after = 0;
  for await (const piece of decompressed(source, threads)) {
    if (isDone) after += piece.length;
    else isDone = await feed(piece);
    await setImmediate();
    if (after > MAX_PADDING) return;
  }
}
