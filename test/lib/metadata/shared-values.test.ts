import { expect, test } from 'vitest';
import { SharedValues } from '../../../lib/metadata/shared-values.ts';

const rules = () => [{ pattern: '**', priority: 0 }];

test('equal values of the record before, and of an earlier one, become one', () => {
  const shared = new SharedValues();
  const [first, second, third, fourth] = [{ a: rules() }, { a: rules() }, { a: [] }, { a: rules() }];
  for (const record of [first, second, third, fourth]) shared.share(record);
  expect(second.a).toBe(first.a);
  expect(fourth.a).toBe(first.a);
  expect(third.a).toEqual([]);
});

test.each([
  ['an empty list and an empty object', [], {}],
  ['a list and an object with its indexes', ['x'], { 0: 'x' }],
  ['a text and the value whose JSON it is', '{}', {}],
  ['a list and one with one more', [1], [1, 2]],
  ['a list and one with one less', [1, 2], [1]],
  ['objects with other names', { a: 1 }, { b: 1 }],
  ['an object and null', {}, null],
  ['values that differ inside', { a: { b: [1] } }, { a: { b: [2] } }],
])('stay as they are: %s', (_, one, other) => {
  for (const values of [
    [one, other, one],
    [other, one, other],
  ]) {
    const shared = new SharedValues();
    const records = values.map((value) => ({ a: structuredClone(value) as unknown }));
    for (const record of records) shared.share(record);
    expect(records.map(({ a }) => a)).toStrictEqual(values);
  }
});
