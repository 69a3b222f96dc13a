import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_PACKED } from '../../../../lib/store/limits.ts';
import { codeOf, START, TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(() => {
  scratch = new TreeScratch();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const entryOf = (path: string) => scratch.codebase.file(path);
const infoOf = (path: string) =>
  scratch.codebase
    .list({ path: '', recursive: true, page_size: 1000, page_token: '' })
    .files.find((file) => file.path === path);

describe('an upload', () => {
  it('stores the content, creates its directories and returns size and SHA-256', async () => {
    const upload = scratch.codebase.upload('/a/b/c.txt');
    for (const part of ['one', '', 'two']) upload.write(Buffer.from(part));
    expect(await upload.end()).toEqual({ size: 6, checksum: sha256('onetwo') });
    upload.drop();
    expect(scratch.text('a/b/c.txt')).toBe('onetwo');
  });

  it('stores contents of any size', async () => {
    for (const size of [0, 1, MAX_PACKED, MAX_PACKED + 1, 300_000]) {
      const text = 'x'.repeat(size);
      expect(await scratch.put(`f${size}`, text)).toEqual({ size, checksum: sha256(text) });
      expect(scratch.text(`f${size}`)).toBe(text);
    }
    expect(scratch.disk.readdir('/store/tmp')).toEqual([]);
  });

  it('gives the file its mode, and never a set-id bit', async () => {
    await scratch.put('d/plain');
    await scratch.put('run', 'x', { mode: 0o755 });
    expect([infoOf('d')?.mode, infoOf('d/plain')?.mode, infoOf('run')?.mode]).toEqual([0o755, 0o644, 0o755]);
    for (const mode of [0o4755, -1, 1.5])
      expect(await codeOf(() => scratch.put('x', '', { mode }))).toBe('INVALID_ARGUMENT');
  });

  it('replaces a file while a reader keeps reading the old version', async () => {
    await scratch.put('a', 'o'.repeat(MAX_PACKED + 1));
    await scratch.put('b', 'old');
    const readers = ['a', 'b'].map((path) => scratch.codebase.reader(entryOf(path)));
    await scratch.put('a', 'new');
    await scratch.put('b', 'new');
    expect(readers.map((reader) => reader.read(3).toString())).toEqual(['ooo', 'old']);
    for (const reader of readers) reader.close();
    expect([scratch.text('a'), scratch.text('b')]).toEqual(['new', 'new']);
  });

  it('gives a replaced file another inode number', async () => {
    await scratch.put('a', 'same');
    const { ino } = entryOf('a');
    await scratch.put('a', 'same');
    expect(entryOf('a').ino).not.toBe(ino);
  });

  it('that is dropped leaves the old file and nothing else', async () => {
    await scratch.put('a', 'old');
    const { head } = scratch.codebase;
    const upload = scratch.codebase.upload('deep/er/a');
    upload.write(Buffer.alloc(MAX_PACKED + 1));
    upload.drop();
    expect(scratch.codebase.head).toBe(head);
    expect(scratch.disk.readdir('/store/tmp')).toEqual([]);
    expect(scratch.list()).toEqual(['a']);
  });

  it('is refused at the path of a directory, and below a file', async () => {
    await scratch.put('a/b');
    await expect(scratch.put('a')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: '"a" is a directory, not a file',
    });
    await expect(scratch.put('a/b/c/d')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: '"a/b" is not a directory',
    });
    await scratch.put('l', '', { symlinkTarget: 'a' });
    await expect(scratch.put('l/x')).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: '"l" is a symbolic link, which is not followed',
    });
    expect(scratch.list()).toEqual(['a', 'a/b', 'l']);
  });

  it('changes the time of the directory that gets a new entry, and of no other', async () => {
    await scratch.put('a/b/one');
    scratch.now += 5000;
    await scratch.put('a/b/two');
    await scratch.put('a/b/c/d/three');
    const times = ['a', 'a/b', 'a/b/one', 'a/b/two', 'a/b/c'].map((path) => infoOf(path)?.modified_at);
    const [before, after] = [START / 1000, START / 1000 + 5];
    expect(times).toEqual([before, after, before, after, after]);
  });
});

describe('a symlink', () => {
  it('is stored as an entry, listed with its target, and replaced like a file', async () => {
    const target = '../b';
    expect(await scratch.put('dir/l', '', { symlinkTarget: target })).toEqual({ size: 4, checksum: sha256(target) });
    expect(infoOf('dir/l')).toMatchObject({ symlink_target: target, size: 4, is_dir: false });
    expect(await codeOf(() => scratch.put('x', 'content', { symlinkTarget: 'x' }))).toBe('INVALID_ARGUMENT');
    expect(await codeOf(() => scratch.put('x', '', { symlinkTarget: '' }))).toBe('INVALID_ARGUMENT');
    expect(scratch.counted).toEqual([1, 4]);
    await scratch.put('dir/l', 'a file');
    expect(scratch.text('dir/l')).toBe('a file');
  });

  it('is followed neither as a file nor on the way to one', async () => {
    await scratch.put('d/x');
    await scratch.put('link', '', { symlinkTarget: 'd' });
    for (const call of [
      () => scratch.codebase.file('link'),
      () => scratch.codebase.file('link/x'),
      () => scratch.codebase.remove('link/x'),
      () => scratch.list('link'),
    ])
      expect(await codeOf(call)).toBe('FAILED_PRECONDITION');
  });
});

describe('a path', () => {
  const invalid = ['', '/', '//', '//a', 'a//b', 'a/', '.', '..', '../x', 'a/../../x', 'a/..', './a', 'a/./b', 'a\0b'];
  const tooLong = ['\ud800', 'n'.repeat(256), 'é'.repeat(128), `${'d/'.repeat(2048)}f`];
  it.each([...invalid, ...tooLong])('that could leave the codebase is INVALID_ARGUMENT: %#', async (path) => {
    const calls = [() => scratch.put(path), () => scratch.codebase.file(path), () => scratch.codebase.remove(path)];
    expect(await Promise.all(calls.map(codeOf))).toEqual(Array(3).fill('INVALID_ARGUMENT'));
    expect(scratch.list()).toEqual([]);
  });

  const odd = [
    '/etc/passwd',
    '...',
    '..a',
    '.git/config',
    'a\\b',
    'new\nline',
    '\u001b[2J',
    'é',
    'e\u0301',
    '-rf',
    '~',
  ];
  const long = ['n'.repeat(255), `${'d/'.repeat(2047)}f`, Array(16).fill('n'.repeat(255)).join('/')];
  it.each([...odd, ...long, '%2e%2e', 'constructor', '__proto__'])(
    'with unusual characters is a valid name: %#',
    async (path) => {
      await scratch.put(path, 'content');
      expect(scratch.text(path)).toBe('content');
      expect(scratch.counted).toEqual([1, 7]);
      await scratch.codebase.remove(path);
      expect(scratch.list()).toEqual([]);
    },
  );
});

describe('any text as a path', () => {
  it('is refused, or is the path of the file', async () => {
    const part = fc.oneof(
      fc.constantFrom('/', '.', '..', '\0', 'a', '\ud800', '\\', 'é', '%2f'),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    const path = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(path, async (text) => {
        scratch = new TreeScratch();
        const code = await codeOf(() => scratch.put(text, 'x'));
        const names = text.replace(/^\//, '').split('/');
        const isPlain = names.every((name) => name !== '' && name !== '.' && name !== '..');
        const isText = !/\0/.test(text) && Buffer.from(text).toString() === text;
        expect(code).toBe(isPlain && isText ? 'fulfilled' : 'INVALID_ARGUMENT');
        expect(scratch.list()).toEqual(isPlain && isText ? names.map((_, n) => names.slice(0, n + 1).join('/')) : []);
      }),
      { numRuns: 300 },
    );
  });
});

describe('removing a file', () => {
  it('removes the parent directories that become empty, and no others', async () => {
    await scratch.put('a/b/c/one');
    await scratch.put('a/two');
    scratch.now += 5000;
    await scratch.codebase.remove('a/b/c/one');
    expect(scratch.list()).toEqual(['a', 'a/two']);
    expect(infoOf('a')?.modified_at).toBe(START / 1000 + 5);
    await scratch.codebase.remove('a/two');
    expect(scratch.list()).toEqual([]);
  });

  it('of an absent file is NOT_FOUND, of a directory FAILED_PRECONDITION', async () => {
    await scratch.put('a/b');
    const { head } = scratch.codebase;
    const codes = ['x', 'x/y', 'a'].map((path) => codeOf(() => scratch.codebase.remove(path)));
    expect(await Promise.all(codes)).toEqual(['NOT_FOUND', 'NOT_FOUND', 'FAILED_PRECONDITION']);
    expect(scratch.codebase.head).toBe(head);
  });

  it('removes a symlink and keeps its target', async () => {
    await scratch.put('target');
    await scratch.put('link', '', { symlinkTarget: 'target' });
    await scratch.codebase.remove('link');
    expect(scratch.list()).toEqual(['target']);
  });
});

describe('reading a file', () => {
  it('tells where its contents are', async () => {
    for (const [path, size] of [
      ['small', 10],
      ['large', MAX_PACKED + 1],
    ] as const) {
      const text = path.repeat(size).slice(0, size);
      await scratch.put(path, text);
      const { fd, offset, length } = scratch.codebase.contents(entryOf(path));
      const bytes = Buffer.alloc(length);
      scratch.disk.pread(fd, bytes, offset);
      expect(bytes.toString()).toBe(text);
    }
  });

  it('of an absent file is NOT_FOUND, of a directory or below a file FAILED_PRECONDITION', async () => {
    await scratch.put('a/b');
    const codes = ['x', 'x/y', 'a', 'a/b/c'].map((path) => codeOf(() => scratch.codebase.file(path)));
    expect(await Promise.all(codes)).toEqual(['NOT_FOUND', 'NOT_FOUND', 'FAILED_PRECONDITION', 'FAILED_PRECONDITION']);
  });

  it.each(['small', 'x'.repeat(MAX_PACKED + 1)])('of damaged contents is DATA_LOSS: %#', async (text) => {
    await scratch.put('a', text);
    await scratch.put('b', 'whole');
    const folder = text.length > MAX_PACKED ? '/store/blobs' : '/store/packs';
    const [name] = scratch.disk.readdir(folder);
    const path = folder.endsWith('packs')
      ? `${folder}/${name}`
      : `${folder}/${name}/${scratch.disk.readdir(`${folder}/${name}`)[0]}`;
    const file = scratch.disk.file(path);
    file.contents[file.contents.indexOf(text.slice(0, 5)) + 2]! ^= 1;
    expect(await codeOf(() => scratch.text('a'))).toBe('DATA_LOSS');
    expect(scratch.text('b')).toBe('whole');
  });
});

describe('files and bytes', () => {
  it('follow every change', async () => {
    expect(scratch.counted).toEqual([0, 0]);
    await scratch.put('a/b', '12345');
    await scratch.put('c', '123');
    await scratch.put('c', '1');
    expect(scratch.counted).toEqual([2, 6]);
    await codeOf(() => scratch.put('a', 'refused'));
    await scratch.codebase.remove('a/b');
    expect(scratch.counted).toEqual([1, 1]);
  });
});
