import { expect, it } from 'vitest';
import { GroupNames, NAMES } from '../../../../lib/runtime/cgroup/group-names.ts';

it('a name is used again as late as possible, and never by two', () => {
  const names = new GroupNames();
  expect([names.take(), names.take()]).toEqual([1, 2]);
  names.give(2);
  names.give(1);
  const rest = Array.from({ length: NAMES - 2 }, () => names.take());
  expect([rest[0], rest.at(-1)]).toEqual([3, NAMES]);
  expect([names.take(), names.take(), names.take()]).toEqual([2, 1, NAMES + 1]);
});
