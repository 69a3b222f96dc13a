import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  archiveOf,
  at,
  id,
  imported,
  leftovers,
  names,
  packed,
  put,
  scratch,
  source,
  streamed,
  useImports,
} from './importing.ts';

useImports();

describe('importing an archive into a codebase', () => {
  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', (bytes: Buffer) => execFileSync('zstd', ['-c'], { input: bytes })],
  ])('keeps modes, times, symlinks and hard links (%s)', async (_, compress) => {
    const counts = await imported(compress(packed()));
    expect(counts).toMatchObject({ files: 3, directories: 2, symlinks: 1, size: 200_020 });
    expect(statSync(at('src/run.sh'))).toMatchObject({ mode: 0o100755, mtimeMs: 1e12, nlink: 2 });
    expect(statSync(at('src/same.sh')).ino).toBe(statSync(at('src/run.sh')).ino);
    expect(statSync(at('src/deep'))).toMatchObject({ mode: 0o40700, mtimeMs: 1e12 });
    expect(statSync(at('src/deep/only'))).toMatchObject({ mode: 0o100440, size: 200_000 });
    expect(readlinkSync(at('link'))).toBe('src/run.sh');
    const { file_count, total_size } = await scratch.codebases.get(id);
    expect({ file_count, total_size }).toEqual({ file_count: 4, total_size: 200_020 + 'src/run.sh'.length });
    await expect.poll(leftovers).toEqual([]);
  });

  it('merges with what is there, or replaces all of it', async () => {
    for (const path of ['kept', 'src/kept', 'src/run.sh', 'gone/a/b']) await put(path);
    const before = statSync(at('src/kept')).ino;
    await imported(packed());
    expect(names()).toEqual([
      'gone',
      'gone/a',
      'gone/a/b',
      'kept',
      'link',
      'src',
      'src/deep',
      'src/deep/only',
      'src/kept',
      'src/run.sh',
      'src/same.sh',
    ]);
    expect(statSync(at('src/kept')).ino).toBe(before);
    expect(readFileSync(at('src/run.sh'), 'utf8')).toBe('#!/bin/sh\n');
    const merged = await scratch.codebases.get(id);
    await scratch.codebases.close();
    await scratch.open();
    expect(await scratch.codebases.get(id)).toEqual(merged);
    await imported(packed(), 'replace');
    expect(names()).toEqual(['link', 'src', 'src/deep', 'src/deep/only', 'src/run.sh', 'src/same.sh']);
    const replaced = await scratch.codebases.get(id);
    await scratch.codebases.close();
    await scratch.open();
    expect(await scratch.codebases.get(id)).toEqual(replaced);
    expect(replaced.file_count).toBe(4);
  });

  it('exports what tar can unpack, hard links and times included, and imports it again', async () => {
    await imported(packed());
    const parts: Uint8Array[] = [];
    for await (const part of await scratch.codebases.exportArchive(id, '')) parts.push(part);
    const listed = execFileSync('tar', ['-tvf', '-', '--full-time', '--utc'], {
      input: Buffer.concat(parts),
    }).toString();
    expect(listed).toMatch(/-rwxr-xr-x .* 2001-09-09 01:46:40 src\/run\.sh\n/);
    expect(listed).toContain('src/same.sh link to src/run.sh');
    expect(listed).toMatch(/drwx------ .* src\/deep\/\n/);
    expect(listed).toContain('link -> src/run.sh');
    await put('other');
    await imported(Buffer.concat(parts), 'replace');
    expect(names()).not.toContain('other');
    expect(statSync(at('src/same.sh')).nlink).toBe(2);
    const below: Uint8Array[] = [];
    for await (const part of await scratch.codebases.exportArchive(id, 'src/deep')) below.push(part);
    expect(execFileSync('tar', ['-tf', '-'], { input: Buffer.concat(below) }).toString()).toBe('only\n');
    await expect(scratch.codebases.exportArchive(id, 'none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('takes the last of several members of one name', async () => {
    const counts = await imported(
      archiveOf([
        ['a', 'one'],
        ['a', { to: 'elsewhere' }],
        ['a', 'three'],
        ['d', 'a file first'],
        ['d/', 'directory'],
        ['d/in', 'x'],
      ]),
    );
    expect(counts).toMatchObject({ files: 2, directories: 1, symlinks: 0, size: 6 });
    expect(readFileSync(at('a'), 'utf8')).toBe('three');
    expect((await scratch.codebases.get(id)).total_size).toBe(6);
  });

  it('keeps times before 1970, also those of GNU tar', async () => {
    // As texts, because Node takes a negative number for the present.
    for (const path of ['src/run.sh', 'src/deep']) utimesSync(join(source, path), '-1000', '-1000');
    for (const format of ['gnu', 'pax']) {
      await imported(packed(`--format=${format}`), 'replace');
      for (const path of ['src/run.sh', 'src/deep']) expect(statSync(at(path)).mtimeMs, path).toBe(-1_000_000);
    }
  });

  it('refuses to merge a directory with another type, and changes nothing', async () => {
    await put('d/x');
    await put('f');
    for (const path of ['d', 'f/x']) {
      await expect(
        imported(
          archiveOf([
            ['a', 'x'],
            [path, 'x'],
          ]),
        ),
      ).rejects.toMatchObject({ code: 'FAILED_PRECONDITION' });
    }
    expect(names()).toEqual(['d', 'd/x', 'f']);
    await imported(
      archiveOf([
        ['d', 'x'],
        ['f/x', 'x'],
      ]),
      'replace',
    );
    expect(names()).toEqual(['d', 'f', 'f/x']);
  });
});

it('a symlink is uploaded, listed with its target, and moved into place like a file', async () => {
  await put('dir/a');
  const upload = (target: string, content = '') =>
    scratch.codebases.upload(id, 'dir/l', streamed(Buffer.from(content)), { symlinkTarget: target });
  expect(await upload('../b')).toMatchObject({ size: 4 });
  expect(readlinkSync(at('dir/l'))).toBe('../b');
  const page = { path: '', recursive: true, page_size: 100, page_token: '' };
  const { files } = await scratch.codebases.listFiles(id, page);
  expect(files.map(({ path, symlink_target }) => [path, symlink_target])).toEqual([
    ['dir', ''],
    ['dir/a', ''],
    ['dir/l', '../b'],
  ]);
  await expect(upload('x', 'content')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(upload('')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect((await scratch.codebases.get(id)).file_count).toBe(2);
});
