import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../errors.ts';
import { errorCode } from '../linux/errno.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { invalidArchive } from './invalid-archive.ts';
import { type Unzstd, unzstd } from './unzstd.ts';
import { isZstd } from './zstd-blocks.ts';

/** Bytes that decide about the format. */
const MAGIC_BYTES = 6;
/** Maximum bytes of a piece: some tens of members, so that a step on them is short. */
const PIECE = 64 * 1024;

const REFUSED: readonly [magic: readonly number[], what: string][] = [
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed with xz'],
  [[0x42, 0x5a, 0x68], 'compressed with bzip2'],
  [[0x50, 0x4b, 0x03, 0x04], 'a zip file'],
];

/**
 * Yields the bytes of an archive, which may be compressed with gzip or zstd, in pieces of at most 64 KiB. The format is
 * found by its first bytes. Throws INVALID_ARGUMENT for other compressions and for damaged data, and errors of the
 * source. Decompresses at the pace of its reader.
 */
export async function* decompressed(
  source: AsyncIterable<Uint8Array>,
  threads: Threads<Unzstd>,
): AsyncGenerator<Buffer, void, void> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    const held: Buffer[] = [];
    let length = 0;
    while (length < MAGIC_BYTES) {
      const { value, done } = await iterator.next();
      if (done) break;
      held.push(asBuffer(value));
      length += value.length;
    }
    const all = replayed(held, iterator);
    const head = Buffer.concat(held);
    for (const [magic, what] of REFUSED) {
      if (startsWith(head, magic))
        throw invalidArchive(`it is ${what}; send a tar archive, plain or with gzip or zstd`);
    }
    if (startsWith(head, [0x1f, 0x8b])) yield* inPieces(gunzipped(all));
    else if (isZstd(head)) yield* inPieces(unzstd(all, threads));
    else yield* inPieces(all);
  } finally {
    await iterator.return?.();
  }
}

async function* replayed(held: Buffer[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Buffer, void, void> {
  for (let piece = held.shift(); piece !== undefined; piece = held.shift()) yield piece;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield asBuffer(next.value);
}

async function* gunzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  const gunzip = createGunzip({ chunkSize: PIECE });
  // An error of either stream destroys the other one, and so reaches the loop below.
  pipeline(Readable.from(source, { objectMode: false, highWaterMark: PIECE }), gunzip, () => undefined);
  try {
    for await (const piece of gunzip) yield piece as Buffer;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const code = errorCode(error);
    if (code === 'Z_BUF_ERROR') throw invalidArchive('its gzip data is truncated');
    if (code?.startsWith('Z_')) throw invalidArchive('its gzip data is damaged');
    throw error;
  } finally {
    gunzip.destroy();
  }
}

async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
  }
}

function startsWith(bytes: Buffer, magic: readonly number[]): boolean {
  return bytes.length >= magic.length && magic.every((byte, at) => bytes[at] === byte);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
