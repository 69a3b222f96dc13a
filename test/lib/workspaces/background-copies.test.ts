import { expect, it } from 'vitest';
import { Deferred } from '../../../lib/fuse/connection/deferred.ts';
import { BackgroundCopies } from '../../../lib/workspaces/delta/contents/background-copies.ts';

/** Copies that end when the test says so, in the order in which they began. */
function copies() {
  const begun: { id: number; end: (errno: number) => void }[] = [];
  const ended: [number, number][] = [];
  const all = new BackgroundCopies(
    (...answer) => ended.push(answer),
    ({ id }) => {
      const end = new Deferred<number>();
      begun.push({ id, end: end.resolve });
      return end.promise;
    },
  );
  const start = (layer: string, ...ids: number[]) => {
    for (const id of ids) all.start({ id, from: '/dev/null', to: `/${layer}/copy-${id}`, isSparse: true });
  };
  const ids = () => begun.map(({ id }) => id);
  const end = async (at: number, errno = 0) => {
    begun[at]!.end(errno);
    await new Promise(setImmediate);
  };
  return { all, start, ids, end, ended };
}

it('no more than two copies are made at once', async () => {
  const { start, ids, end, ended } = copies();
  start('a', 1, 2, 3, 4);
  expect(ids()).toEqual([1, 2]);
  await end(1, 28);
  expect([ids(), ended]).toEqual([[1, 2, 3], [[2, 28]]]);
});

it('a layer with many copies does not delay that of another by more than one', async () => {
  const { start, ids, end } = copies();
  start('a', 1, 2, 3, 4, 5);
  start('b', 6, 7);
  for (let at = 0; at < 4; at++) await end(at);
  expect(ids()).toEqual([1, 2, 3, 6, 4, 7]);
});

it('what has not begun does not begin after the end', async () => {
  const { all, start, ids, end, ended } = copies();
  start('a', 1, 2, 3);
  all.close();
  await end(0);
  expect([ids(), ended]).toEqual([[1, 2], [[1, 0]]]);
});
