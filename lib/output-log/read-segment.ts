import type { FileHandle } from 'node:fs/promises';
import { BLOCK, BLOCK_HEAD, blockOffset, type Chunk } from './format.ts';
import type { LogFileSystem, Segment } from './segment.ts';

/** Bytes read from a file in one step. */
const CHUNK = 128 * 1024;

export interface SegmentChunk extends Chunk {
  readonly segment: Segment;
}

/**
 * Reads blocks of a segment, beginning with the one that has the byte at `offset`. `from`: position of a block that is
 * known not to be after it. Returns undefined if the heads of the blocks are damaged. Throws the errors of the host.
 */
export async function readSegment(
  fileSystem: LogFileSystem,
  segment: Segment,
  offset: number,
  from = 0,
): Promise<SegmentChunk | undefined> {
  const handle = await fileSystem.open(segment.path, 'r');
  try {
    // Of a reader that goes on where it was, the place is known, and no search is needed.
    const next = from === 0 ? undefined : await readChunk(handle, segment, offset, from);
    if (next !== undefined && endsAfter(next, offset)) return next;
    return await readChunk(handle, segment, offset, await findPosition(handle, segment, offset, from));
  } finally {
    await handle.close();
  }
}

/** undefined: the block at `position` is damaged, or begins after `offset`. */
async function readChunk(
  handle: FileHandle,
  segment: Segment,
  offset: number,
  position: number,
): Promise<SegmentChunk | undefined> {
  const wanted = Buffer.allocUnsafeSlow(Math.min(CHUNK, segment.size - position));
  const bytes = withoutOlder(await readAll(handle, wanted, position), segment);
  const start = blockOffset(bytes, 0);
  return start === undefined || start > offset ? undefined : { segment, position, start, bytes };
}

/** The blocks before the first one that is older than the segment. */
function withoutOlder(bytes: Buffer, { start }: Segment): Buffer {
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const begins = blockOffset(bytes, at);
    if (begins !== undefined && begins < start) return bytes.subarray(0, at);
  }
  return bytes;
}

/** Whether the last block that begins in the chunk begins after `offset`, so that the byte there is in an earlier one. */
function endsAfter({ bytes }: SegmentChunk, offset: number): boolean {
  const last = blockOffset(bytes, Math.floor((bytes.length - 1) / BLOCK) * BLOCK);
  return last !== undefined && last > offset;
}

/** Binary search of the block's position by the heads of blocks. Blocks that are older than the segment are after it. */
export async function findPosition(
  handle: FileHandle,
  segment: Segment,
  offset: number,
  from: number,
): Promise<number> {
  const head = Buffer.alloc(BLOCK_HEAD);
  let low = from / BLOCK;
  let high = Math.ceil(segment.size / BLOCK) - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const begins = blockOffset(await readAll(handle, head, middle * BLOCK), 0);
    if (begins !== undefined && segment.start <= begins && begins <= offset) low = middle;
    else high = middle - 1;
  }
  return low * BLOCK;
}

/** Fills the buffer from the file. Returns the part that was filled before the end of the file. */
export async function readAll(handle: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, position + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
