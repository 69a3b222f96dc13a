import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { Life } from './life.ts';

const SEQUENCES = Math.ceil(Number(process.env.PADDOCK_MODEL_RUNS ?? 120) / 3);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const LIVES = 4;

function emptyDisk(): SimulatedDisk {
  const disk = new SimulatedDisk();
  disk.mkdir('/deltas');
  disk.syncFolder('/');
  return disk;
}

/** Servers, one after the other, each of which ends at a random call. */
async function play(random: Random, faults: boolean): Promise<void> {
  let disk = emptyDisk();
  let life = new Life(disk, random);
  for (let lives = 0; lives < LIVES; lives++) {
    await liveToTheEnd(life, random, faults);
    const killed = random(2) === 0;
    disk = killed ? disk.killed() : disk.crashed(random);
    const { history, last, durable } = life;
    // The record that was being written may be there.
    life = new Life(disk, random, last === undefined ? history : [...history, last]);
    expect(life.history.length).toBeGreaterThanOrEqual(killed ? history.length : durable);
    life.durable = killed ? durable : life.history.length;
  }
}

async function liveToTheEnd(life: Life, random: Random, faults: boolean): Promise<void> {
  const { disk } = life;
  if (faults) disk.fault = { at: disk.calls + random(40), with: random(2) ? 'EIO' : 'ENOSPC' };
  for (let acts = random(60); acts > 0; acts--) await life.act();
  disk.fault = { at: disk.calls + random(12), with: 'stop' };
  for (let acts = 40; acts > 0 && (await life.act()); acts--);
}

describe('the files of a workspace', () => {
  it.each([false, true])(
    'have what a kill or a loss of power must leave, and no mix (calls fail: %s)',
    async (faults) => {
      for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
        try {
          await play(seeded(seed), faults);
        } catch (error) {
          throw new Error(`PADDOCK_MODEL_SEED=${seed}: ${(error as Error).message ?? error}`, { cause: error });
        }
      }
    },
  );
});
