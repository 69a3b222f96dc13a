import { expect, it } from 'vitest';
import type { PullOptions } from '../../../clients/typescript/src/index.ts';
import { Unpulled } from '../../../clients/typescript/src/unpulled.ts';

const [one, other] = [() => true, () => false];

const after = (failed: PullOptions, succeeded: PullOptions) => {
  const unpulled = new Unpulled();
  unpulled.failed(failed, new Error('cut'));
  unpulled.pulled(succeeded, { left: [], brought: [] });
  return unpulled.told;
};

it.each<[string, PullOptions, PullOptions]>([
  ['chose by another function', { only: one }, { only: other }],
  ['chose other paths', { paths: ['a'] }, { paths: ['b'] }],
  ['chose fewer', { paths: ['a'] }, { paths: ['a'], only: one }],
  ['left scratch paths out', { includeScratch: true }, {}],
  ['left .git out', { git: true }, {}],
])('a pull that failed is remembered after one that %s', (_, failed, succeeded) => {
  expect(after(failed, succeeded)).toBe('a pull of its changes failed (cut)');
});

it.each<[string, PullOptions, PullOptions]>([
  ['the same', { only: one, exclude: ['a'] }, { only: one, exclude: ['a'] }],
  ['all', { only: one, paths: ['a'] }, {}],
  ['all of the same paths', { only: one, paths: ['a'] }, { paths: ['a'] }],
])('a pull that failed is forgotten after one of %s', (_, failed, succeeded) => {
  expect(after(failed, succeeded)).toBeUndefined();
});
