import { expect, it } from 'vitest';
import { indexesOfSequence, unitsOf } from '../../../lib/text-tools/find-sequence.ts';

const indexesOf = (text: string, wanted: string) => indexesOfSequence(unitsOf(text), unitsOf(wanted));

const each = (text: string, wanted: string): number[] => {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
};

it('finds what indexOf finds, each time', () => {
  for (let length = 0; length <= 9; length++) {
    for (let bits = 0; bits < 2 ** length; bits++) {
      const text = bits.toString(2).padStart(length, '0').slice(0, length);
      for (const wanted of ['0', '01', '010', '0010', '1101', '01010', '00100']) {
        expect([text, wanted, indexesOf(text, wanted)]).toEqual([text, wanted, each(text, wanted)]);
      }
    }
  }
  expect(indexesOf('a😀b', '😀b')).toEqual([1]);
});

it('compares each element at most twice', () => {
  let reads = 0;
  const text = unitsOf('a'.repeat(200_000));
  const counted = new Proxy(text, {
    get: (of, name) => {
      reads++;
      return Reflect.get(of, name);
    },
  });
  expect(indexesOfSequence(counted, unitsOf(`${'a'.repeat(100_000)}b`))).toEqual([]);
  // Each turn of the loop reads the length once, and an element for each of at most two comparisons and a fall back.
  expect(reads).toBeLessThan(6 * text.length);
});
