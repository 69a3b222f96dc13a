import { expect, it } from 'vitest';
import {
  hasLongList,
  ITEMS_PER_MESSAGE,
  type ListPiece,
  LongArguments,
  ReceivedLists,
} from '../../../lib/fuse/connection/long-arguments.ts';

const MANY = Array.from({ length: 100_000 }, (_, index) => ({ path: `d/${index}` }));
const BYTES = new Uint8Array([1, 2]);

it.each([
  ['an argument', ['sb_1', MANY]],
  ['a field of an argument', [{ id: 'sb_1' }, { paths: MANY, stage: 0, bytes: BYTES }]],
  ['an argument of an operation that is an argument', ['sb_1', 'import', [MANY, undefined, MANY.slice(0, 5000)]]],
])('a list that is %s crosses in small messages', async (_, args) => {
  const pieces: ListPiece[] = [];
  expect(hasLongList(args)).toBe(true);
  const sent = await new LongArguments((piece) => pieces.push(piece)).send(args);
  expect(hasLongList(sent)).toBe(false);
  expect(Math.max(...pieces.map(({ items }) => items.length))).toBe(ITEMS_PER_MESSAGE);
  const received = new ReceivedLists();
  for (const piece of pieces) received.add(structuredClone(piece));
  expect(received.complete(structuredClone(sent))).toEqual(args);
  expect(received.complete(structuredClone(sent))).toEqual(sent);
});

it('short lists cross with their call', () => {
  expect(hasLongList(['sb_1', MANY.slice(0, ITEMS_PER_MESSAGE), { paths: [], text: 'a'.repeat(10_000) }])).toBe(false);
});

it('other events are handled while a list is sent', async () => {
  let handled = 0;
  const count = setInterval(() => handled++);
  const busy = () => {
    for (const end = performance.now() + 2; performance.now() < end; );
  };
  await new LongArguments(busy).send([MANY]);
  clearInterval(count);
  expect(handled).toBeGreaterThan(10);
});
