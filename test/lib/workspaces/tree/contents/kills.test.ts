import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostDisk } from '../../../../../lib/disk/host-disk.ts';
import { seeded } from '../../../trees/random.ts';
import { SteppedSync } from '../disk/stepped-sync.ts';
import { Play } from './play.ts';

const SEQUENCES = Number(process.env.PADDOCK_MODEL_RUNS ?? 8);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const LIVES = 3;
/** In slots and in data files. */
const SIZES = [0, 700, 9000, 65_536, 65_537, 70_000, 200_000];

async function play(seed: number, root: string): Promise<void> {
  const random = seeded(seed);
  const begin = (before?: Play): Play => {
    const thread = new SteppedSync(hostDisk);
    return new Play({ disk: hostDisk, root, sync: thread.sync, random }, thread, SIZES, before);
  };
  let server = begin();
  for (let lives = 0; lives < LIVES; lives++) {
    for (let acts = 60 + random(60); acts > 0; acts--) {
      await server.act();
      if (acts % 5 === 0) server.check();
    }
    server.end();
    const { answered } = server;
    server = begin(server);
    expect(server.answered).toBe(answered);
  }
  server.end();
}

describe('contents of a live tree, small and large', () => {
  it('are after a kill what was answered, and for others what they were frozen as', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
      const root = mkdtempSync(join(tmpdir(), 'paddock-kills-'));
      try {
        await play(seed, root);
      } catch (error) {
        throw new Error(`PADDOCK_MODEL_SEED=${seed}: ${(error as Error).message ?? error}`, { cause: error });
      } finally {
        rmSync(root, { recursive: true });
      }
    }
  });
});
