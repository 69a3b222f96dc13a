import { expect, it } from 'vitest';
import { StepCounter } from '../../../lib/fuse/connection/steps.ts';

it('a counter of steps ends one after every so many items', () => {
  const counter = new StepCounter(3);
  expect(Array.from({ length: 7 }, () => counter.count())).toEqual([false, false, true, false, false, true, false]);
});
