import { expect, it } from 'vitest';
import { type Frame, frameOfList, parseFrame } from '../../../lib/metadata/frames.ts';
import { snapshotPieces } from '../../../lib/metadata/snapshot.ts';
import { emptyState } from '../../../lib/metadata/state.ts';

const LENGTH = 2_000_000;
const record = (n: number) => ({ id: `sb_${n}`, rules: 'é'.repeat(LENGTH) });
const records = Array.from({ length: 5 }, (_, n) => record(n));

it('a snapshot has each in a piece of its own', () => {
  const state = emptyState();
  for (const each of records) state.sandboxes.set(each.id, each as never);
  const pieces = [...snapshotPieces(state, { log: 1, sequence: 0 })];
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(3 * LENGTH);
});

it('a frame of the log is made in steps, each in a turn of its own, and is read again', async () => {
  let turns = 0;
  let isMade = false;
  const count = () => {
    turns++;
    if (!isMade) setImmediate(count);
  };
  setImmediate(count);
  const pieces = await frameOfList(7, records);
  isMade = true;
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(3 * LENGTH);
  expect(turns).toBeGreaterThan(0);
  const whole = Buffer.concat(pieces);
  const line = { bytes: whole.subarray(0, -1), offset: 0, isWhole: true };
  expect(parseFrame(line)).toEqual({ sequence: 7, payload: records } satisfies Frame);
  expect(parseFrame({ ...line, bytes: line.bytes.with(LENGTH, 0) as Buffer })).toBeUndefined();
});

it.each([0, 1, 3])('a list of %i short ones is one piece', async (length) => {
  const list = Array.from({ length }, (_, n) => ({ id: `sb_${n}` }));
  const pieces = await frameOfList(1, list);
  expect(pieces).toHaveLength(1);
  expect(parseFrame({ bytes: pieces[0]!.subarray(0, -1), offset: 0, isWhole: true })?.payload).toEqual(list);
});
