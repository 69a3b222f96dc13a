import { expect, it } from 'vitest';
import { Removals } from '../../../../lib/runtime/cgroup/removals.ts';

const names = (count: number) => Array.from({ length: count }, (_, index) => `sb_${index}`);

it('kills the processes of all cgroups before it waits for any', async () => {
  const killed = new Set<string>();
  const left = new Set(names(200));
  // None ends before all are killed.
  const remove = (dir: string) => killed.size === 200 && left.delete(dir);
  const kill = async (dir: string) => void killed.add(dir);
  await new Removals({ remove, kill }).removeAll(names(200));
  expect(left.size).toBe(0);
});

it('leaves what is stuck, and removes the others', async () => {
  const left = new Set(names(3));
  let kills = 0;
  const remove = (dir: string) => kills > 0 && dir !== 'sb_1' && left.delete(dir);
  const kill = () => {
    kills++;
    throw new Error('no descriptor is free');
  };
  const removals = new Removals({ remove, kill, patience: 100 });
  await removals.removeAll(names(3));
  expect([...left]).toEqual(['sb_1']);
  expect(kills).toBeGreaterThan(3);
});
