import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { memberHead, memberPadding, tarEnd } from '../../../lib/archive/tar.ts';
import { fromText } from '../../../lib/byte-string.ts';
import { callersThread } from '../../../lib/codebases/archive/callers-thread.ts';
import type { ImportMode } from '../../../lib/field-values.ts';
import { WritableTree } from '../../../lib/host-tree/writable-tree.ts';
import type { Closable, SharedThreads, Threads } from '../../../lib/threads/thread-pool.ts';
import type { Transfers } from '../../../lib/transfers.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let source: string;
let id: string;

beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
  ({ id } = await scratch.codebases.create({ name: 'c', owner_id: '' }));
  source = mkdtempSync(join(tmpdir(), 'paddock-import-'));
  mkdirSync(join(source, 'src/deep'), { recursive: true });
  writeFileSync(join(source, 'src/run.sh'), '#!/bin/sh\n');
  chmodSync(join(source, 'src/run.sh'), 0o755);
  writeFileSync(join(source, 'src/deep/only'), 'x'.repeat(200_000), { mode: 0o440 });
  linkSync(join(source, 'src/run.sh'), join(source, 'src/same.sh'));
  symlinkSync('src/run.sh', join(source, 'link'));
  for (const path of ['src/run.sh', 'src/deep/only', 'src/deep']) utimesSync(join(source, path), 1e9, 1e9);
  chmodSync(join(source, 'src/deep'), 0o700);
});
afterEach(() => {
  rmSync(source, { recursive: true });
  scratch.remove();
});

const packed = (...options: string[]) => execFileSync('tar', ['-C', source, '-cf', '-', ...options, '.']);

async function* streamed(bytes: Uint8Array, size = 10_000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const imported = (bytes: Uint8Array, mode: ImportMode = 'merge') =>
  scratch.codebases.importArchive(id, mode, streamed(bytes));

const put = async (path: string, content = path) => {
  await scratch.codebases.upload(id, path, streamed(Buffer.from(content)));
};

/** An archive with these members; a text is a file's content. */
const archiveOf = (members: [path: string, content: string | { to: string; hard?: boolean } | 'directory'][]) =>
  Buffer.concat([
    ...members.flatMap(([path, content]) => {
      const head = { path: fromText(path), mode: 0o644, mtime: { sec: 1, nsec: 0 }, size: 0 };
      if (content === 'directory') return [memberHead({ ...head, type: 'directory', mode: 0o755 })];
      if (typeof content === 'object') {
        return [memberHead({ ...head, type: content.hard ? 'link' : 'symlink', target: fromText(content.to) })];
      }
      const bytes = Buffer.from(content);
      return [memberHead({ ...head, type: 'file', size: bytes.length }), bytes, memberPadding(bytes.length)];
    }),
    tarEnd(),
  ]);

const at = (path: string) => join(scratch.codebases.filesPath(id), path);
const names = () => readdirSync(at('.'), { recursive: true }).sort();
/** Everything is removed from the incoming files, in the background. */
const leftovers = () => readdirSync(join(at('.'), '../tmp'));

describe('importing an archive into a codebase', () => {
  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['gzip', (bytes: Buffer) => gzipSync(bytes)],
    ['zstd', (bytes: Buffer) => execFileSync('zstd', ['-c'], { input: bytes })],
  ])('keeps modes, times, symlinks and hard links (%s)', async (_, compress) => {
    const counts = await imported(compress(packed()));
    expect(counts).toEqual({ files: 3, directories: 2, symlinks: 1, size: 200_020 });
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
    await scratch.open();
    expect(await scratch.codebases.get(id)).toEqual(merged);
    await imported(packed(), 'replace');
    expect(names()).toEqual(['link', 'src', 'src/deep', 'src/deep/only', 'src/run.sh', 'src/same.sh']);
    const replaced = await scratch.codebases.get(id);
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
    expect(counts).toEqual({ files: 2, directories: 1, symlinks: 0, size: 6 });
    expect(readFileSync(at('a'), 'utf8')).toBe('three');
    expect((await scratch.codebases.get(id)).total_size).toBe(6);
  });

  const refused: [string, Parameters<typeof archiveOf>[0], RegExp][] = [
    ['a member above the root', [['../x', 'x']], /"\.\.\/x" contains "\.\."/],
    ['an absolute path', [['/etc/x', 'x']], /"\/etc\/x" is an absolute path/],
    ['a name that is too long', [[`${'n'.repeat(256)}`, 'x']], /more than 255 bytes in one name/],
    [
      'a member below a symlink',
      [
        ['l', { to: '/tmp' }],
        ['l/x', 'x'],
      ],
      /"l\/x" is below "l", which is not a directory/,
    ],
    [
      'a directory member at a symlink’s member',
      [
        ['l', { to: '/tmp' }],
        ['l/d/x', 'x'],
      ],
      /not a directory/,
    ],
    [
      'a file at a directory',
      [
        ['d/x', 'x'],
        ['d', 'x'],
      ],
      /"d" is a directory and another type/,
    ],
    ['a hard link to an absent file', [['l', { to: 'none/x', hard: true }]], /not an earlier file/],
    [
      'a hard link to a symlink',
      [
        ['s', { to: '/etc/passwd' }],
        ['l', { to: 's', hard: true }],
      ],
      /not an earlier file/,
    ],
    ['a hard link above the root', [['l', { to: '../../x', hard: true }]], /contains "\.\."/],
    ['a hard link to itself', [['l', { to: 'l', hard: true }]], /not an earlier file/],
  ];
  it.each(refused)('refuses %s, and changes nothing', async (_, members, message) => {
    await put('kept');
    const importing = imported(archiveOf([['first', 'x'], ...members]), 'replace');
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(names()).toEqual(['kept']);
    await expect.poll(leftovers).toEqual([]);
  });

  it.each([
    ['a truncated archive', () => packed().subarray(0, 5000), /truncated/],
    ['garbage', () => Buffer.alloc(5000, 'garbage'), /invalid checksum/],
    ['nothing', () => Buffer.alloc(0), /truncated/],
    ['truncated gzip', () => gzipSync(packed()).subarray(0, 300), /its gzip data is truncated/],
    [
      'damaged gzip',
      () => Buffer.concat([gzipSync(packed()).subarray(0, 20), Buffer.alloc(500, 7)]),
      /gzip data is damaged/,
    ],
    ['truncated zstd', () => execFileSync('zstd', ['-c'], { input: packed() }).subarray(0, 60), /zstd data is/],
    [
      'zstd with a huge window',
      () => execFileSync('zstd', ['-c', '--ultra', '-22', '--long=27'], { input: Buffer.alloc(64 << 20, 'a') }),
      /a window of \d+ bytes, the most is 8388608/,
    ],
    ['xz', () => execFileSync('xz', ['-c'], { input: packed() }), /compressed with xz/],
    ['a zip file', () => Buffer.from('PK\x03\x04'.padEnd(100)), /a zip file/],
  ])('refuses %s with one sentence', async (_, bytes, message) => {
    const importing = imported(bytes());
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
    expect(names()).toEqual([]);
  });

  it('refuses more hard links than the file system permits', async () => {
    vi.spyOn(WritableTree.prototype, 'link').mockImplementation(() => {
      throw Object.assign(new Error('link'), { code: 'EMLINK' });
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const importing = imported(
      archiveOf([
        ['f', 'x'],
        ['h', { to: 'f', hard: true }],
      ]),
    );
    await expect(importing).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/"h" is a hard/),
    });
    expect(names()).toEqual([]);
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

  it('is bounded by the quota of the codebase, also for data that grows when it is decompressed', async () => {
    scratch.limits = { maxBytes: 100_000, maxFiles: 5 };
    await scratch.open();
    await put('kept');
    const bomb = gzipSync(archiveOf([['bomb', 'x'.repeat(5_000_000)]]));
    await expect(imported(bomb)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
    const many = archiveOf([1, 2, 3, 4, 5].map((n) => [`f${n}`, 'x']));
    await expect(imported(many)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('storage.max_codebase_files'),
    });
    await imported(many, 'replace');
    expect(names()).toHaveLength(5);
  });

  it('refuses one directory named over and over, of which each member has a record', async () => {
    await put('kept');
    const again = archiveOf([['d/', 'directory']]).subarray(0, 512);
    const often = gzipSync(Buffer.concat([...Array(10_002).fill(again), tarEnd()]));
    await expect(imported(often)).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining('names a directory again more than 10000 times'),
    });
    expect(names()).toEqual(['kept']);
    await imported(Buffer.concat([...Array(100).fill(again), tarEnd()]));
  });

  it('leaves the old state if the client vanishes', async () => {
    await put('kept');
    const cut = async function* () {
      yield packed().subarray(0, 3000);
      throw new Error('gone');
    };
    await expect(scratch.codebases.importArchive(id, 'replace', cut())).rejects.toThrow('gone');
    expect(names()).toEqual(['kept']);
    await expect.poll(leftovers).toEqual([]);
  });

  it('tells the watcher the changed and the removed paths', async () => {
    scratch.sandboxes = ['sb_x'];
    for (const path of ['gone/a', 'src/old', 'src/run.sh']) await put(path);
    scratch.told.length = 0;
    await imported(packed(), 'replace');
    expect(scratch.removing.sort()).toEqual(['gone', 'gone/a', 'src/old']);
    expect(scratch.told[0]).toMatch(/^changing (gone|src),(gone|src),link,/);
    scratch.told.length = 0;
    await imported(packed(), 'merge');
    expect(scratch.told[0]).toMatch(/^changing .*src\/run\.sh/);
  });

  it('needs no thread of those of imports to finish an interrupted one', async () => {
    const threads = callersThread();
    let places = 2;
    const take = async () => {
      if (places-- === 0) throw new Error('all threads of imports are in use');
      return threads.imports.of('').take();
    };
    scratch.archives = { ...threads, imports: { of: () => ({ take }) } };
    await scratch.open();
    const [first, second] = [archiveOf([['first', 'x']]), archiveOf([['second', 'x']])];
    let start = () => {};
    let proceed = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const failed = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    const waits = async function* () {
      yield second.subarray(0, 512);
      start();
      await failed;
      yield second.subarray(512);
    };
    const waiting = scratch.codebases.importArchive(id, 'merge', waits());
    await started;
    scratch.onChanging = () => {
      throw new Error('disk');
    };
    await expect(imported(first)).rejects.toThrow('disk');
    scratch.onChanging = () => {};
    proceed();
    await waiting;
    expect(names()).toEqual(['first', 'second']);
  });

  it('sends messages of a bounded size to and from its threads', async () => {
    const sizes: number[] = [];
    const watched = <T extends Closable>(threads: SharedThreads<T>): SharedThreads<T> => ({
      of: (owner) => watchedOf(threads.of(owner)),
    });
    const watchedOf = <T extends Closable>(threads: Threads<T>): Threads<T> => ({
      async take() {
        const { remote, release } = await threads.take();
        const get =
          (target: object, method: string) =>
          async (...args: unknown[]) => {
            for (const arg of args) if (arg instanceof Uint8Array) sizes.push(arg.buffer.byteLength);
            const value = await (Reflect.get(target, method) as (...args: unknown[]) => unknown)(...args);
            for (const list of [value, ...Object.values(value ?? {})]) if (Array.isArray(list)) sizes.push(list.length);
            return value;
          };
        const watching = new Proxy(remote, {
          get: (target, method) => (method === 'then' ? undefined : get(target, String(method))),
        });
        return { remote: watching, release };
      },
    });
    mkdirSync(at('many'));
    for (let n = 0; n < 3000; n++) writeFileSync(at(`many/${n}`), '');
    scratch.sandboxes = ['sb_x'];
    const threads = callersThread();
    scratch.archives = { ...threads, imports: watched(threads.imports), unzstd: watched(threads.unzstd) };
    await scratch.open();
    const bytes = execFileSync('zstd', ['-c'], { input: packed() });
    const pieces = async function* () {
      const large = Buffer.concat([bytes, Buffer.alloc(1_000_000)]);
      for (let from = 0; from < bytes.length; from += 1000) {
        yield large.subarray(from, Math.min(from + 1000, bytes.length));
      }
    };
    await scratch.codebases.importArchive(id, 'replace', pieces());
    expect(scratch.removing).toHaveLength(3001);
    expect(sizes.filter((size) => size === 1024).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    const plain = async function* () {
      const large = Buffer.concat([packed(), Buffer.alloc(1_000_000)]);
      yield large.subarray(0, large.length - 1_000_000);
    };
    sizes.length = 0;
    await scratch.codebases.importArchive(id, 'replace', plain());
    expect(Math.max(...sizes)).toBeLessThanOrEqual(packed().length);
  });

  it('ends the transfer of an export that gets no thread', async () => {
    const take = () => Promise.reject(new Error('no thread'));
    scratch.archives = { ...callersThread(), exports: { of: () => ({ take }) } };
    let transfers = 0;
    scratch.transfers = {
      begin: async () => {
        transfers++;
        return () => transfers--;
      },
    } as unknown as Transfers;
    await scratch.open();
    const stream = await scratch.codebases.exportArchive(id, '');
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('no thread');
    expect(transfers).toBe(0);
  });

  it('is refused before it is certain if a sandbox cannot keep what it removes', async () => {
    await put('gone');
    scratch.sandboxes = ['sb_x'];
    scratch.onRemoving = () => {
      throw new Error('no copy');
    };
    await expect(imported(packed(), 'replace')).rejects.toThrow('no copy');
    scratch.onRemoving = () => {};
    await scratch.open();
    expect(names()).toEqual(['gone']);
  });

  it('finishes an import that a crash has interrupted after its preparation', async () => {
    for (const path of ['gone', 'src/old', 'src/run.sh']) await put(path);
    scratch.onChanging = () => {
      throw new Error('crash');
    };
    await expect(imported(packed(), 'replace')).rejects.toThrow('crash');
    expect(names()).toContain('gone');
    scratch.onChanging = () => {};
    await scratch.open();
    await scratch.codebases.finishCommits();
    expect(names()).toEqual(['link', 'src', 'src/deep', 'src/deep/only', 'src/run.sh', 'src/same.sh']);
    expect(existsSync(join(at('.'), '../commit'))).toBe(false);
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
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
