import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { Memory } from '../../../trees/memory.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { LiveOnDisk } from './live-on-disk.ts';

const SEQUENCES = Number(process.env.PADDOCK_MODEL_RUNS ?? 15);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const LIVES = 3;

async function play(random: Random): Promise<void> {
  let disk = new SimulatedDisk();
  disk.mkdir('/deltas');
  disk.syncFolder('/');
  const codebase = new Memory();
  let live = new LiveOnDisk(disk, random, codebase);
  for (let lives = 0; lives < LIVES; lives++) {
    disk.fault = { at: disk.calls + random(120), with: 'stop' };
    for (let acts = 90; acts > 0 && (await live.act()); acts--);
    disk.fault = { at: 0, with: 'never' };
    const killed = random(2) === 0;
    disk = killed ? disk.killed() : disk.crashed(random);
    const { states, answered, durable } = live;
    live = new LiveOnDisk(disk, random, codebase, states);
    expect(live.answered).toBeGreaterThanOrEqual(killed ? answered : durable);
    live.durable = killed ? durable : live.answered;
  }
}

describe('a live tree with its files', () => {
  it('is after a kill or a loss of power what it was at one moment, at or after the last that was promised', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
      try {
        await play(seeded(seed));
      } catch (error) {
        throw new Error(`PADDOCK_MODEL_SEED=${seed}: ${(error as Error).message ?? error}`, { cause: error });
      }
    }
  });
});
