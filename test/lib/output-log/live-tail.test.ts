import { expect, it } from 'vitest';
import { LiveTail } from '../../../lib/output-log/live-tail.ts';
import { giveBack, RECYCLED_BYTES, recycledBuffer, sharedView } from '../../../lib/recycled-buffers.ts';
import { bytes } from './log-directory.ts';

const piece = (value: number) => {
  const buffer = recycledBuffer().fill(value);
  const data = sharedView(buffer, 0, buffer.length);
  giveBack(buffer);
  return data;
};

it('a large piece is handed out as it is, and its buffer is used again when it is dropped and no reader has it', () => {
  const tail = new LiveTail();
  const data = piece(1);
  tail.append('stdout', 0, data);
  const read = tail.at(0, RECYCLED_BYTES)!;
  expect(read.data.buffer).toBe(data.buffer);
  tail.drop(RECYCLED_BYTES);
  expect(tail.at(0, 1)).toBeUndefined();
  tail.append('stdout', RECYCLED_BYTES, piece(2));
  expect(read.data.every((value) => value === 1)).toBe(true);
  giveBack(read.data);
  expect(recycledBuffer().buffer).toBe(data.buffer);
});

it('small output of one stream is one piece, and what a reader has does not change', () => {
  const tail = new LiveTail();
  tail.append('stdout', 0, bytes('one'));
  const read = tail.at(1, 100)!;
  tail.append('stdout', 3, bytes('two'));
  tail.append('stderr', 6, bytes('three'));
  expect(read).toEqual({ stream: 'stdout', offset: 1, data: bytes('ne') });
  expect(tail.at(0, 100)).toEqual({ stream: 'stdout', offset: 0, data: bytes('onetwo') });
  expect(tail.at(4, 1)).toEqual({ stream: 'stdout', offset: 4, data: bytes('w') });
  expect(tail.at(6, 100)).toEqual({ stream: 'stderr', offset: 6, data: bytes('three') });
  expect(tail.at(11, 100)).toBeUndefined();
});

it('single bytes of alternating streams cost more than they have, and are found', () => {
  const tail = new LiveTail();
  const before = process.memoryUsage().arrayBuffers;
  for (let offset = 0; offset < 1000; offset++) tail.append(offset % 2 ? 'stdout' : 'stderr', offset, bytes('x'));
  expect(tail.cost).toBeGreaterThan(process.memoryUsage().arrayBuffers - before);
  for (const offset of [0, 1, 499, 998, 999]) expect(tail.at(offset, 9)).toMatchObject({ offset, data: bytes('x') });
  tail.drop(500);
  expect(tail.start).toBe(500);
  expect(tail.at(499, 1)).toBeUndefined();
});
