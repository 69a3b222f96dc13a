import { describe, expect, it } from 'vitest';
import { Stopped } from '../../disk/simulated-disk.ts';
import { seeded } from '../../trees/random.ts';
import { CommitWorld, isEnd } from './commit-world.ts';
import type { SandboxOnDisk } from './sandbox-on-disk.ts';

const REQUEST = { id: Buffer.alloc(16, 3), intent: Buffer.from('the request') };

/** A sandbox with changes of all kinds, all durable, and one in conflict with what another one committed. */
async function setUp(): Promise<{ world: CommitWorld; a: SandboxOnDisk }> {
  const world = new CommitWorld();
  for (const path of ['d/x', 'd/y', 'e/z', 'both']) await world.scratch.put(path);
  const [a, b] = [await world.sandbox(11n), await world.sandbox(12n)];
  b.write('both', 'theirs');
  a.write('d/x', 'changed');
  a.write('both', 'mine');
  a.rename('e', 'f');
  a.mkdir('new');
  a.write('new/file', 'of a');
  a.write('new/large', Buffer.alloc(70_000, 7));
  a.remove('d/y');
  await world.commit(b);
  await world.follow(a);
  await a.sync();
  return { world, a };
}

/** Ends the server at one call of the disk during a commit, or at the move of the head. */
async function cutOff(at: number | 'before the head' | 'after the head', onConflict: 'ours' | 'theirs') {
  const { world, a } = await setUp();
  const { disk, scratch } = world;
  const before = scratch.heads.head!;
  const first = disk.calls;
  if (typeof at === 'number') disk.fault = { at: first + at, with: 'stop' };
  else
    scratch.heads.onAdvance = () => {
      if (at === 'after the head') scratch.heads.afterAdvance = () => stop(world);
      else stop(world);
    };
  let answer: Awaited<ReturnType<CommitWorld['commit']>> | undefined;
  try {
    answer = await world.commit(a, { ...REQUEST, onConflict });
  } catch (error) {
    if (!isEnd(error)) throw error;
  }
  return { world, answer, before, calls: disk.calls - first };
}

function stop({ disk }: CommitWorld): never {
  disk.fault = { at: disk.calls + 1, with: 'stop' };
  disk.mkdir('/stopped');
  throw new Stopped();
}

describe.each(['ours', 'theirs'] as const)('a commit with %s that a crash cuts off', (onConflict) => {
  async function check(at: Parameters<typeof cutOff>[0], powerLost: boolean): Promise<number> {
    const { world, answer, before, calls } = await cutOff(at, onConflict);
    const head = world.scratch.heads.head!;
    const disk = powerLost ? world.disk.crashed(seeded(typeof at === 'number' ? at + 1 : 5)) : world.disk.killed();
    const now = new CommitWorld(disk, head);
    const a = await now.sandbox(11n);
    const committed = head.number > before.number;
    if (answer !== undefined) expect(committed).toBe(true);
    const repeated = { ...REQUEST, onConflict, isRepeated: true };
    const again = await now.commit(a, repeated);
    const expected = { version: before.number + 1, count: onConflict === 'ours' ? 10 : 9, conflicts: ['both'] };
    expect(again).toMatchObject(answer ?? expected);
    expect(now.codebase.head.number).toBe(before.number + 1);
    expect(now.files).toMatchObject({
      both: `f644:${onConflict === 'ours' ? 'mine' : 'theirs'}`,
      'd/x': 'f644:changed',
      'f/z': 'f644:e/z',
      'new/file': 'f644:of a',
    });
    expect(now.files).not.toHaveProperty(['d/y']);
    await expect(now.changes(a)).resolves.toEqual([]);
    expect(now.flat((await a.freeze(false)).mine, a)).toEqual(now.flat(now.codebase.head.root));
    return calls;
  }

  it.each([false, true])('is made as a whole or not at all, and once (loss of power: %s)', async (powerLost) => {
    let calls = 1;
    for (let at = 1; at <= calls; at++) calls = Math.max(calls, await check(at, powerLost));
    expect(calls).toBeGreaterThan(20);
  });

  it.each(['before the head', 'after the head'] as const)('%s has moved', async (at) => {
    for (const powerLost of [false, true]) await check(at, powerLost);
  });
});
