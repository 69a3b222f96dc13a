import { expect, it } from 'vitest';
import { withGitIndexes } from '../../../../lib/sandboxes/changes/git-index.ts';
import { changesOf } from './changes-of.ts';

/** The indexes that are committed with changes at `paths`. */
async function indexesWith(paths: string[], ...conflict: 'conflict'[]) {
  const indexes = [...changesOf(['.git/index', 'file', 'file']), ...changesOf(['sub/.git/index', 'file', 'file'])].map(
    (change) => ({ ...change, left: 'scratch' as const, conflict: conflict.length > 0 }),
  );
  const all = await withGitIndexes([...indexes, ...paths.flatMap((path) => changesOf([path, 'file', 'file']))]);
  return all.slice(0, 2).flatMap(({ path, left }) => (left === undefined ? [path] : []));
}

it('commits the index of a repository with its references, and not otherwise', async () => {
  expect(await indexesWith(['.git/refs/heads/main'])).toEqual(['.git/index']);
  expect(await indexesWith(['sub/.git/HEAD'])).toEqual(['sub/.git/index']);
  expect(await indexesWith(['.git/packed-refs', 'sub/.git/packed-refs'])).toEqual(['.git/index', 'sub/.git/index']);
  expect(await indexesWith(['a', '.git/objects/aa/b', 'x.git/HEAD', '.git/ORIG_HEAD'])).toEqual([]);
  expect(await indexesWith(['.git/HEAD'], 'conflict')).toEqual([]);
});
