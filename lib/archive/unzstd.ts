import { Decompress } from 'fzstd';
import { ServiceError } from '../errors.ts';
import { serveThread } from '../threads/serve-thread.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { invalidArchive } from './invalid-archive.ts';
import { Xxh64 } from './xxh64.ts';
import { ZstdBlocks, type ZstdPiece } from './zstd-blocks.ts';

/** Output that one step returns, at most one block more. */
const STEP_BYTES = 256 * 1024;

/**
 * Decompresses zstd data step by step. The release of Node with zstd of its own is later than the oldest supported one.
 * Runs in a thread of its own, because a hostile block can take many seconds.
 */
export class Unzstd {
  readonly #blocks = new ZstdBlocks();
  /** Of the present frame. */
  #decoder = this.#newDecoder();
  #hash = new Xxh64();
  #decoded: Uint8Array[] = [];
  #inStep = 0;
  #pieces: Iterator<ZstdPiece, void, void> = [][Symbol.iterator]();

  /** Takes the next bytes, after `next` returned undefined. */
  push(bytes: Uint8Array): void {
    this.#pieces = this.#blocks.cut(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** The next output; undefined if more input is needed. */
  next(): Uint8Array[] | undefined {
    this.#inStep = 0;
    while (this.#inStep < STEP_BYTES) {
      const { value, done } = this.#pieces.next();
      if (done) break;
      this.#decode(value);
    }
    const decoded = this.#decoded;
    this.#decoded = [];
    return decoded.length > 0 ? decoded : undefined;
  }

  /** The end of the input. */
  finish(): void {
    if (!this.#blocks.isWhole) throw invalidArchive('its zstd data is truncated');
  }

  close(): void {
    this.#decoded = [];
  }

  #decode({ bytes, ends }: ZstdPiece): void {
    try {
      // The decoder holds short frames back until it is told that they are complete.
      this.#decoder.push(bytes, ends !== undefined);
    } catch {
      throw damaged();
    }
    if (ends === undefined) return;
    // The decoder skips the checksum without a look at it.
    if (ends.checksum !== undefined && ends.checksum !== this.#hash.digest()) throw damaged();
    this.#decoder = this.#newDecoder();
    this.#hash = new Xxh64();
  }

  #newDecoder(): Decompress {
    return new Decompress((bytes) => {
      if (bytes.length === 0) return;
      this.#inStep += bytes.length;
      this.#hash.update(bytes);
      this.#decoded.push(bytes);
    });
  }
}

function damaged(): ServiceError {
  return invalidArchive('its zstd data is damaged');
}

/** Milliseconds for one step, far more than an honest one takes. */
export const UNZSTD_STEP_MS = 20_000;

/** Runs the thread of the role `unzstd`. */
export function runUnzstd(): void {
  serveThread(() => new Unzstd());
}

/** Yields the decompressed bytes of `source`. */
export async function* unzstd(
  source: AsyncIterable<Buffer>,
  threads: Threads<Unzstd>,
): AsyncGenerator<Buffer, void, void> {
  const { remote: decoder, release } = await threads.take();
  try {
    for await (const piece of source) {
      // A message has the whole memory that a piece refers to.
      await decoder.push(new Uint8Array(piece));
      for (let decoded = await decoder.next(); decoded !== undefined; decoded = await decoder.next()) {
        for (const bytes of decoded) yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      }
    }
    await decoder.finish();
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'UNAVAILABLE') {
      throw invalidArchive('its zstd data is damaged, or takes too long to decompress');
    }
    throw error;
  } finally {
    await release();
  }
}
