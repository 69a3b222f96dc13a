import { describe, expect, it } from 'vitest';
import { SimulatedDisk } from '../../../disk/simulated-disk.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { SteppedSync } from '../disk/stepped-sync.ts';
import { Play } from './play.ts';

const SEQUENCES = Number(process.env.PADDOCK_MODEL_RUNS ?? 15);
const FIRST_SEED = Number(process.env.PADDOCK_MODEL_SEED ?? 1);
const LIVES = 4;
/** All in slots. */
const SIZES = [0, 1, 700, 4096, 4097, 9000, 16_384, 30_000, 65_536];

async function play(random: Random): Promise<void> {
  let disk = new SimulatedDisk();
  disk.mkdir('/deltas');
  disk.syncFolder('/');
  const begin = (before?: Play): Play => {
    const thread = new SteppedSync(disk);
    const left = before && { states: before.possible(), durable: before.durable, checkpoints: before.checkpoints };
    return new Play({ disk, root: '/deltas', sync: thread.sync, random }, thread, SIZES, left);
  };
  let server = begin();
  for (let lives = 0; lives < LIVES; lives++) {
    disk.fault = { at: disk.calls + random(300), with: 'stop' };
    for (let acts = 120; acts > 0 && (await server.act()); acts--)
      if (acts % 5 === 0 && !disk.isStopped) server.check();
    disk.fault = { at: 0, with: 'never' };
    const killed = random(2) === 0;
    disk = killed ? disk.killed() : disk.crashed(random);
    const { answered, durable } = server;
    server = begin(server);
    expect(server.answered).toBeGreaterThanOrEqual(killed ? answered : durable);
    server.durable = killed ? durable : server.answered;
  }
}

describe('contents of a live tree', () => {
  it('are after a kill or a loss of power what they were at one moment, and for others what they were frozen as', async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed++) {
      try {
        await play(seeded(seed));
      } catch (error) {
        throw new Error(`PADDOCK_MODEL_SEED=${seed}: ${(error as Error).message ?? error}`, { cause: error });
      }
    }
  }, 120_000);
});
