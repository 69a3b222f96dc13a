import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { type Case, contract } from './suite.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
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

async function* hashed(chunks: Iterable<Buffer>, hash: ReturnType<typeof createHash>, sample: () => void) {
  for (const chunk of chunks) {
    hash.update(chunk);
    sample();
    yield chunk;
  }
}

const cases: Case[] = [
  {
    name: 'uploads and downloads a 1 GiB file with less than 64 MiB of additional memory',
    // Storage knows no runtime: one column of it is enough.
    runtimes: ['bwrap'],
    timeoutMs: 240_000,
    async run(scene) {
      const { id } = await scene.codebase({});
      // What the first transfer of all needs once is not what a large one needs.
      await scene.client.upload(
        id,
        'warm',
        hashed(noise(64 * MIB), createHash('sha256'), () => {}),
      );
      for await (const _ of scene.client.download(id, 'warm'));
      const before = scene.server.rss();
      let peak = 0;
      const sample = () => {
        peak = Math.max(peak, scene.server.rss());
      };

      const sent = createHash('sha256');
      const { size, checksum } = await scene.client.upload(id, 'large', hashed(noise(GIB), sent, sample));
      const digest = sent.digest('hex');
      expect([size, checksum]).toEqual([GIB, digest]);

      const got = createHash('sha256');
      for await (const chunk of scene.client.download(id, 'large')) {
        got.update(chunk);
        sample();
      }
      expect(got.digest('hex')).toBe(digest);
      expect((peak - before) / MIB).toBeLessThan(MAX_RISE / MIB);
    },
  },
];

contract('a large file', cases);
