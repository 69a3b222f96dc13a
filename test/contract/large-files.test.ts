import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { type Case, contract } from './suite.ts';

const MIB = 1024 * 1024;
/** Four times what may be held of it in memory; with PADDOCK_CONTRACT=full more than any cache of a small machine. */
const LARGE = (process.env.PADDOCK_CONTRACT === 'full' ? 1024 : 256) * MIB;
const MAX_RISE = 64 * MIB;

/** Not compressible, not one page over and over: 1 MiB of noise with a counter in each repetition. */
function* noise(bytes: number): Generator<Buffer, void, void> {
  const block = Buffer.alloc(MIB);
  for (let at = 0; at < MIB; at += 4) block.writeUInt32LE(Math.imul(at, 2654435761) >>> 0, at);
  for (let count = 0; count < bytes / MIB; count++) {
    const part = Buffer.from(block);
    part.writeUInt32LE(count, 0);
    yield part;
  }
}

async function* sampled(chunks: Iterable<Buffer>, sample: () => void) {
  for (const chunk of chunks) {
    sample();
    yield chunk;
  }
}

/** Of the large file, for all protocols. */
let digest: string | undefined;
function digestOfLarge(): string {
  if (digest === undefined) {
    const hash = createHash('sha256');
    for (const chunk of noise(LARGE)) hash.update(chunk);
    digest = hash.digest('hex');
  }
  return digest;
}

/** Compares a stream with the bytes that are expected of it. */
class Expected {
  readonly #chunks = noise(LARGE);
  #rest: Buffer = Buffer.alloc(0);

  take(got: Uint8Array): void {
    for (let at = 0; at < got.length; ) {
      if (this.#rest.length === 0) this.#rest = this.#chunks.next().value ?? Buffer.alloc(0);
      const length = Math.min(got.length - at, this.#rest.length);
      if (length === 0) throw new Error('there is more than was sent');
      const same = this.#rest.subarray(0, length).equals(got.subarray(at, at + length));
      if (!same) throw new Error('the contents are not those that were sent');
      this.#rest = this.#rest.subarray(length);
      at += length;
    }
  }

  get isComplete(): boolean {
    return this.#rest.length === 0 && this.#chunks.next().done === true;
  }
}

const cases: Case[] = [
  {
    name: 'uploads and downloads a large file with less than 64 MiB of additional memory',
    // Storage knows no runtime: one column of it is enough.
    runtimes: ['bwrap'],
    timeoutMs: 240_000,
    async run(scene) {
      const { id } = await scene.codebase({});
      // What the first transfer of all needs once is not what a large one needs.
      await scene.client.upload(
        id,
        'warm',
        sampled(noise(64 * MIB), () => {}),
      );
      for await (const _ of scene.client.download(id, 'warm'));
      const before = scene.server.rss();
      let peak = 0;
      const sample = () => {
        peak = Math.max(peak, scene.server.rss());
      };

      const { size, checksum } = await scene.client.upload(id, 'large', sampled(noise(LARGE), sample));
      expect([size, checksum]).toEqual([LARGE, digestOfLarge()]);

      const expected = new Expected();
      for await (const chunk of scene.client.download(id, 'large')) {
        expected.take(chunk);
        sample();
      }
      expect(expected.isComplete).toBe(true);
      expect((peak - before) / MIB).toBeLessThan(MAX_RISE / MIB);
    },
  },
];

contract('a large file', cases);
