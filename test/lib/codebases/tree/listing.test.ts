import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(() => {
  scratch = new TreeScratch();
});

const plant = (...paths: string[]) => Promise.all(paths.map((path) => scratch.put(path)));
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('a listing', () => {
  it('has the entries of one directory, or of all directories below, in path order', async () => {
    await plant('b', 'a/x', 'a/y/z', 'a.txt', 'a-b/q');
    expect(scratch.list('', false)).toEqual(['a', 'a-b', 'a.txt', 'b']);
    expect(scratch.list('/', true)).toEqual(['a', 'a-b', 'a-b/q', 'a.txt', 'a/x', 'a/y', 'a/y/z', 'b']);
    expect(scratch.list('/a/', false)).toEqual(['a/x', 'a/y']);
    expect(scratch.list('a', true)).toEqual(['a/x', 'a/y', 'a/y/z']);
  });

  it('returns size, time, type and mode of each entry, for a symlink its own', async () => {
    await plant('d/file');
    await scratch.put('link', '', { symlinkTarget: '/etc' });
    const { files } = scratch.codebase.list({ path: '', recursive: true, page_size: 100, page_token: '' });
    const modified_at = Math.floor(scratch.now / 1000);
    expect(files).toEqual([
      { path: 'd', size: 0, is_dir: true, modified_at, mode: 0o755, symlink_target: '' },
      { path: 'd/file', size: 6, is_dir: false, modified_at, mode: 0o644, symlink_target: '' },
      { path: 'link', size: 4, is_dir: false, modified_at, mode: 0o777, symlink_target: '/etc' },
    ]);
  });

  it('of a file is FAILED_PRECONDITION, of an absent path NOT_FOUND', async () => {
    await plant('a');
    const codes = ['a', 'b', 'b/c', '../..'].map((path) => codeOf(() => scratch.list(path)));
    expect(await Promise.all(codes)).toEqual(['FAILED_PRECONDITION', 'NOT_FOUND', 'NOT_FOUND', 'INVALID_ARGUMENT']);
  });

  it('refuses the page token of another listing', async () => {
    await plant('a', 'b', 'd/c');
    const page = scratch.codebase.list({ path: '', recursive: false, page_size: 1, page_token: '' });
    const other = { path: 'd', recursive: false, page_size: 1, page_token: page.next_page_token };
    const madeUp = { path: '', recursive: false, page_size: 1, page_token: 'x' };
    for (const request of [other, madeUp])
      expect(await codeOf(() => scratch.codebase.list(request))).toBe('INVALID_ARGUMENT');
  });

  it('continues at the right place if the last entry of a page was removed', async () => {
    await plant('a/b/c', 'a/b/d', 'a/e', 'f');
    const request = { path: '', recursive: true, page_size: 3, page_token: '' };
    const { files, next_page_token } = scratch.codebase.list(request);
    expect(files.map(({ path }) => path)).toEqual(['a', 'a/b', 'a/b/c']);
    await scratch.codebase.remove('a/b/c');
    await scratch.codebase.remove('a/b/d');
    const rest = scratch.codebase.list({ ...request, page_token: next_page_token });
    expect(rest.files.map(({ path }) => path)).toEqual(['a/e', 'f']);
  });

  it('is the same whatever the page size, and sorted by bytes', async () => {
    const name = fc.constantFrom('a', 'b', 'a.b', 'a-', 'a-/', 'é', '😀', 'A', 'a-b', 'a-b.c', 'a!');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/').replaceAll('//', '/'));
    await fc.assert(
      fc.asyncProperty(fc.array(path, { maxLength: 12 }), fc.integer({ min: 1, max: 5 }), async (paths, size) => {
        scratch = new TreeScratch();
        const there = new Set<string>();
        for (const each of paths) {
          if ((await codeOf(() => scratch.put(each))) !== 'fulfilled') continue;
          const names = each.split('/');
          for (let depth = 1; depth <= names.length; depth++) there.add(names.slice(0, depth).join('/'));
        }
        const all = [...there].sort(byBytes);
        expect(scratch.list('', true, size)).toEqual(all);
        const top = all.filter((each) => !each.includes('/'));
        expect(scratch.list('', false, size)).toEqual(top);
        for (const each of top) {
          const below = all.filter((other) => other.startsWith(`${each}/`));
          if (below.length > 0) expect(scratch.list(each, true, size)).toEqual(below);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('has all names of a directory of many objects', async () => {
    const paths = Array.from({ length: 1500 }, (_, n) => `d/${n % 2 ? 'x' : 'é'}${n}`);
    await plant(...paths);
    expect(scratch.list('d', true, 700)).toEqual(paths.sort(byBytes));
  });
});
