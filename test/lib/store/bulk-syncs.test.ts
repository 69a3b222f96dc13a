import { expect, it } from 'vitest';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { newStore, reopened } from './stores.ts';

/** Whether the sync was acknowledged while its n-th call of the disk failed; undefined: it has fewer. */
function isKept(n: number): boolean | undefined {
  const disk = new SimulatedDisk();
  const bulk = newStore(disk).bulk();
  const bytes = Buffer.from('contents');
  const key = bulk.putContents(bytes);
  const before = disk.calls;
  disk.fault = { at: before + n, with: 'EIO' };
  try {
    bulk.sync();
  } catch {
    return false;
  }
  if (disk.calls <= before + n) return undefined;
  // After a loss of power only what was synced is there.
  expect(reopened(disk.crashed(() => 0)).bytes(key, bytes.length)).toEqual(bytes);
  return true;
}

it('an acknowledged sync of objects for an import outlives a loss of power, whichever call of the disk failed', () => {
  const kept: (boolean | undefined)[] = [];
  for (let n = 0; kept.at(-1) !== undefined || n === 0; n++) kept.push(isKept(n));
  expect(kept).toContain(false);
});
