import { Decompress } from 'fzstd';
import { ServiceError } from '../errors.ts';
import { serveThread } from '../threads/serve-thread.ts';
import type { Threads } from '../threads/thread-pool.ts';
import { invalidArchive } from './invalid-archive.ts';
import { ZstdBlocks } from './zstd-blocks.ts';

/** Output that one step returns, at most one block more. */
const STEP_BYTES = 256 * 1024;
const NONE = Buffer.alloc(0);

/**
 * Decompresses zstd data step by step. The release of Node with zstd of its own is later than the oldest supported one.
 * Runs in a thread of its own, because a hostile block can take many seconds.
 */
export class Unzstd {
  readonly #decoder = new Decompress((bytes) => this.#decoded.push(bytes));
  readonly #blocks = new ZstdBlocks();
  #decoded: Uint8Array[] = [];
  #pieces: Iterator<Buffer, void, void> = [][Symbol.iterator]();

  /** Takes the next bytes, after `next` returned undefined. */
  push(bytes: Uint8Array): void {
    this.#pieces = this.#blocks.cut(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** The next output; undefined if more input is needed. */
  next(): Uint8Array[] | undefined {
    for (let bytes = 0; bytes < STEP_BYTES; ) {
      const { value, done } = this.#pieces.next();
      if (done) break;
      this.#decode(value, false);
      bytes += this.#decoded.at(-1)?.length ?? 0;
    }
    const decoded = this.#decoded;
    this.#decoded = [];
    return decoded.length > 0 ? decoded : undefined;
  }

  /** The end of the input. */
  finish(): void {
    this.#decode(NONE, true);
  }

  close(): void {
    this.#decoded = [];
  }

  #decode(bytes: Buffer, isLast: boolean): void {
    try {
      this.#decoder.push(bytes, isLast);
    } catch {
      throw invalidArchive(isLast ? 'its zstd data is truncated' : 'its zstd data is damaged');
    }
  }
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
