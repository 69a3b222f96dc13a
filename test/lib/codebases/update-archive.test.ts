import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { archiveOf, at, id, imported, leftovers, names, put, scratch, useImports } from './importing.ts';

useImports();

const revision = async () => (await scratch.codebases.get(id)).revision;
const update = (members: Parameters<typeof archiveOf>[0], onlyAt?: string) =>
  imported(archiveOf(members), 'update', onlyAt);

describe('an update of a codebase', () => {
  it('removes what the archive says, and keeps what it does not name', async () => {
    for (const path of ['a', 'kept', 'd/x', 'd/y', 'd/e/z', 'whole/b/c']) await put(path);
    await update([
      ['.wh.a', ''],
      ['d/.wh.x', ''],
      ['d/y', 'new'],
      ['d/.wh.e', ''],
      ['.wh.whole', ''],
      ['.wh.never', ''],
    ]);
    expect(names()).toEqual(['d', 'd/y', 'kept']);
    expect(readFileSync(at('d/y'), 'utf8')).toBe('new');
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 2, total_size: 3 + 'kept'.length });
    const { file_count, total_size } = await scratch.codebases.get(id);
    await (await scratch.open()).verifier.verifyAll(false);
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count, total_size });
    await expect.poll(leftovers).toEqual([]);
  });

  it('replaces a file by a directory, and a directory by a file or symlink', async () => {
    for (const path of ['f', 'd/x', 'l/x/y']) await put(path);
    await update([
      ['f', 'directory'],
      ['f/in', 'in'],
      ['d', 'file'],
      ['l', { to: 'd' }],
    ]);
    expect(names()).toEqual(['d', 'f', 'f/in', 'l']);
    expect(statSync(at('d')).isFile()).toBe(true);
    expect(await scratch.codebases.get(id)).toMatchObject({ file_count: 3, total_size: 7 });
  });

  it('refuses a mark that is no empty file beside what it removes, and changes nothing', async () => {
    for (const path of ['a', 'd/x']) await put(path);
    for (const members of [
      [['.wh.a', 'content']],
      [['.wh..wh..opq', '']],
      [['.wh.', '']],
      [['.wh.a', 'directory']],
      [['new/.wh.a', '']],
      [
        ['.wh.a', ''],
        ['a', 'new'],
      ],
    ] as Parameters<typeof archiveOf>[0][]) {
      await expect(update(members)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    }
    expect(names()).toEqual(['a', 'd', 'd/x']);
    await update([['d/.wh.x', '']]);
    expect(names()).toEqual(['a', 'd']);
  });

  it('is made only at the revision that it names', async () => {
    const first = (await update([['a', '1']])).revision;
    expect(await revision()).toBe(first);
    await put('b');
    await expect(update([['a', '2']], first)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(readFileSync(at('a'), 'utf8')).toBe('1');
    const second = (await update([['a', '2']], await revision())).revision;
    expect(await revision()).toBe(second);
    expect(readFileSync(at('a'), 'utf8')).toBe('2');
  });
});

describe('the revision of a codebase', () => {
  it('is another one after each change, and the same after a restart', async () => {
    const seen = new Set([await revision()]);
    await put('a');
    seen.add(await revision());
    await scratch.codebases.removeFile(id, 'a');
    seen.add(await revision());
    for (const mode of ['merge', 'replace', 'update'] as const)
      seen.add((await imported(archiveOf([['a', mode]]), mode)).revision);
    const last = await revision();
    expect(seen.size).toBe(6);
    await scratch.codebases.close();
    await scratch.open();
    expect(await revision()).toBe(last);
  });

  it('is another one after a crash, which may have cut off a change', async () => {
    const { revision: before } = await imported(archiveOf([['a', 'a']]));
    await scratch.open();
    expect(await revision()).not.toBe(before);
  });

  it('is another one when files were found that were added by hand', async () => {
    const { revision: before } = await imported(archiveOf([['a', 'a']]));
    writeFileSync(at('b'), '');
    await scratch.codebases.verifier.verifyAll(false);
    expect(await revision()).not.toBe(before);
  });
});
