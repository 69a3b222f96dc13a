import { describe, expect, it } from 'vitest';
import { exitCodeOf, judged } from '../../bench/exec/table.mjs';

describe('the verdict of a bench', () => {
  it.each([
    ['MISSED', 'a must that is missed', false, false],
    ['MISSED', 'a must that is missed although the aim is reached', false, true],
    ['must', 'a must that is reached', true, false],
    ['aim', 'an aim that is reached', true, true],
  ])('is %s for %s', (verdict, _, reached, aimed) => {
    expect(judged(reached, aimed)).toBe(verdict);
  });
});

describe('the exit code of a bench', () => {
  it.each([
    [
      1,
      'a must that is missed although the aim is reached',
      [{ verdict: judged(true, true) }, { verdict: judged(false, true) }],
    ],
    [1, 'a target without an aim that is missed', [{ verdict: judged(false) }]],
    [0, 'targets that are reached', [{ verdict: judged(true) }, { verdict: 'reached' }]],
    [0, 'rows without a target', [{ name: 'a' }]],
  ])('is %i with %s', (code, _, rows) => {
    expect(exitCodeOf(rows)).toBe(code);
  });
});
