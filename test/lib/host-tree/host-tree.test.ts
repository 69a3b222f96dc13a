import fs, {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ByteString, fromLatin1, fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { HeldDirectories } from '../../../lib/host-tree/held-directories.ts';
import { HostFileReader } from '../../../lib/host-tree/host-file.ts';
import { HostTree } from '../../../lib/host-tree/host-tree.ts';
import { OpenDirectories } from '../../../lib/host-tree/open-directories.ts';

let scratch: string;
let root: string;
let outside: string;
let held: HeldDirectories;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'host-tree-'));
  root = join(scratch, 'root');
  outside = join(scratch, 'outside');
  mkdirSync(join(root, 'a/b'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, 'a/b/file'), 'inside');
  writeFileSync(join(outside, 'file'), 'secret');
  symlinkSync('file', join(outside, 'link'));
  held = new HeldDirectories(64);
});

afterEach(() => {
  held.releaseAll();
  rmSync(scratch, { recursive: true, force: true });
});

/** Returns the open files of this process in the scratch directory. */
function descriptors(): string[] {
  return readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    })
    .filter((path) => path.startsWith(scratch));
}

const swaps: [string, () => void][] = [
  ['an absolute symbolic link', () => symlinkSync(outside, join(root, 'a/b'))],
  ['a relative symbolic link', () => symlinkSync('../../outside', join(root, 'a/b'))],
  ['a symbolic link to itself', () => symlinkSync('b', join(root, 'a/b'))],
  ['a file', () => writeFileSync(join(root, 'a/b'), 'x')],
  ['nothing', () => undefined],
];

describe('a parent directory that was replaced by', () => {
  for (const [what, put] of swaps) {
    it(`${what} leads nowhere`, async () => {
      rmSync(join(root, 'a/b'), { recursive: true });
      put();
      const tree = new HostTree(root, held);
      expect(tree.lstat(fromText('a/b/file'))).toBeUndefined();
      expect(tree.lstat(fromText('a/b/link'))).toBeUndefined();
      expect(tree.lstatIn(fromText('a/b'), fromText('file'))).toBeUndefined();
      expect(tree.readdir(fromText('a/b'))).toEqual([]);
      expect(tree.readlink(fromText('a/b/link'))).toBeUndefined();
      expect(tree.openFile(fromText('a/b/file'))).toBeUndefined();
      const reader = new HostFileReader();
      expect(await reader.open({ root, path: fromText('a/b/file') })).toBeUndefined();
      expect(await reader.readlink({ root, path: fromText('a/b/link') })).toBeUndefined();
      await reader.close();
      held.releaseAll();
      expect(descriptors()).toEqual([]);
    });
  }
});

describe('HostTree', () => {
  it('reads entries, with one component in a lookup after a directory is held', () => {
    const tree = new HostTree(root, held);
    expect(Number(tree.lstat(fromText('a/b/file'))?.size)).toBe(6);
    expect(tree.lstat(ROOT_PATH)?.isDirectory()).toBe(true);
    expect(Number(tree.lstatIn(fromText('a/b'), fromText('file'))?.size)).toBe(6);
    expect(tree.lstatIn(ROOT_PATH, fromText('none'))).toBeUndefined();
    expect(tree.readdir(ROOT_PATH).map(({ name }) => name)).toEqual(['a']);
    expect(tree.readdir(fromText('a/b')).map(({ name }) => name)).toEqual(['file']);
    const fd = tree.openFile(fromText('a/b/file'))!;
    expect(readFileSync(fd, 'utf8')).toBe('inside');
    closeSync(fd);
    expect(held.size).toBe(3);
  });

  it('returns a symbolic link as a link and opens no file through it', () => {
    symlinkSync(join(outside, 'file'), join(root, 'a/link'));
    const tree = new HostTree(root, held);
    expect(tree.lstat(fromText('a/link'))?.isSymbolicLink()).toBe(true);
    expect(tree.readlink(fromText('a/link'))?.toString()).toBe(join(outside, 'file'));
    expect(tree.openFile(fromText('a/link'))).toBeUndefined();
  });

  it('refuses a path that is absolute or contains ".."', () => {
    const tree = new HostTree(root, held);
    for (const path of ['a/../../outside/file', '../outside/file', 'a/./b', '/etc/passwd']) {
      expect(() => tree.lstat(fromText(path))).toThrow('not a name in a directory');
      expect(() => tree.lstatIn(fromText('a'), fromText(path))).toThrow('not a name in a directory');
    }
  });

  it('holds at most the allowed number of directories, and resolves all paths of a deeper tree', () => {
    held = new HeldDirectories(8);
    const deep = Array.from({ length: 40 }, (_, depth) => `d${depth}`).join('/');
    mkdirSync(join(root, deep), { recursive: true });
    writeFileSync(join(root, deep, 'file'), 'deep');
    const tree = new HostTree(root, held);
    for (let round = 0; round < 3; round++) {
      expect(Number(tree.lstat(fromText(`${deep}/file`))?.size)).toBe(4);
      expect(Number(tree.lstat(fromText('a/b/file'))?.size)).toBe(6);
      expect(held.size).toBeLessThanOrEqual(8);
    }
    tree.close();
    expect(descriptors()).toEqual([]);
  });

  it('holds no directory at and below a path that is being changed, and sees each of its states', () => {
    const changing = new Map<ByteString, number>();
    let now = 0;
    const tree = new HostTree(root, held, changing, () => now);
    expect(tree.lstat(fromText('a/b/file'))).toBeDefined();
    changing.set(fromText('a/b'), 1);
    tree.release();
    expect(descriptors().sort()).toEqual([root, join(root, 'a')]);
    expect(tree.lstat(fromText('a/b/file'))).toBeDefined();
    renameSync(join(root, 'a/b'), join(scratch, 'old'));
    now += 6;
    expect(tree.lstat(fromText('a/b/file'))).toBeUndefined();
    mkdirSync(join(root, 'a/b'));
    writeFileSync(join(root, 'a/b/file'), 'another');
    expect(Number(tree.lstat(fromText('a/b/file'))?.size)).toBe(7);
    tree.release();
    expect(descriptors().sort()).toEqual([root, join(root, 'a')]);
    changing.delete(fromText('a/b'));
    expect(Number(tree.lstat(fromText('a/b/file'))?.size)).toBe(7);
    expect(descriptors().sort()).toEqual([root, join(root, 'a'), join(root, 'a/b')]);
  });

  it('opens each directory of a deep path that is being changed once for a walk of the path', () => {
    const depth = 500;
    const paths = Array.from({ length: depth }, (_, level) => Array.from({ length: level + 1 }, () => 'd').join('/'));
    mkdirSync(join(root, paths.at(-1)!), { recursive: true });
    const tree = new HostTree(root, held, new Map([[fromText('d'), 1]]), () => 0);
    const opened = vi.spyOn(fs, 'openSync');
    syncBuiltinESMExports();
    try {
      for (const path of paths) expect(tree.lstat(fromText(`${path}/none`))).toBeUndefined();
      expect(opened.mock.calls.length).toBeLessThan(2 * depth);
    } finally {
      opened.mockRestore();
      syncBuiltinESMExports();
    }
    expect(descriptors().length).toBeLessThan(300);
    tree.close();
    expect(descriptors()).toEqual([]);
  });

  it('ends the look-up of a path at its first missing directory, whatever its depth', () => {
    const tree = new HostTree(root, held);
    tree.lstat(fromText('a/b/file'));
    const lookUps = vi.spyOn(Map.prototype, 'get');
    const found = tree.lstat(fromText(`new/${'d/'.repeat(2000)}file`));
    const { length } = lookUps.mock.calls;
    lookUps.mockRestore();
    expect(found).toBeUndefined();
    expect(length).toBeLessThan(10);
  });

  it('accepts names of arbitrary bytes', () => {
    const name = Buffer.from([0xff, 0xfe]);
    mkdirSync(Buffer.concat([Buffer.from(`${root}/`), name]));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name, Buffer.from('/x')]), '1');
    const tree = new HostTree(root, held);
    expect(tree.readdir(fromLatin1('\xff\xfe')).map((entry) => entry.name)).toEqual(['x']);
  });
});

describe('HostFileReader', () => {
  it('opens the intended file, and not one that replaced it', async () => {
    const path = 'a/b/file';
    const { ino } = new HostTree(root, held).lstat(fromText(path))!;
    const reader = new HostFileReader();
    const handle = await reader.open({ root, path: fromText(path), ino: Number(ino) });
    expect(await handle?.readFile('utf8')).toBe('inside');
    await handle?.close();
    writeFileSync(join(scratch, 'new'), 'other');
    renameSync(join(scratch, 'new'), join(root, path));
    expect(await reader.open({ root, path: fromText(path), ino: Number(ino) })).toBeUndefined();
    unlinkSync(join(root, path));
    mkdirSync(join(root, path));
    expect(await reader.open({ root, path: fromText(path) })).toBeUndefined();
    await reader.close();
  });
});

describe('OpenDirectories', () => {
  it('shares a directory between concurrent users, and closes the least recently used ones', async () => {
    for (let n = 0; n < 30; n++) mkdirSync(join(root, `d${n}/e`), { recursive: true });
    const directories = new OpenDirectories(root, 4);
    const identities = await Promise.all(
      Array.from({ length: 90 }, (_, n) =>
        directories.use(fromText(`d${n % 30}/e`), async ({ identity }) => [n % 30, identity] as const),
      ),
    );
    for (const [n, identity] of identities) {
      const { dev, ino } = fstatSync(openedOf(join(root, `d${n}/e`)), { bigint: true });
      expect(identity).toBe(`${dev}:${ino}`);
    }
    for (const fd of opened.splice(0)) closeSync(fd);
    await directories.use(fromText('d0'), async () => undefined);
    expect(descriptors().length).toBeLessThanOrEqual(6);
    await directories.close();
    expect(descriptors()).toEqual([]);
  });

  it('rejects with the error of the path, and continues', async () => {
    symlinkSync(outside, join(root, 'a/link'));
    const directories = new OpenDirectories(root);
    await expect(directories.use(fromText('a/link'), async () => undefined)).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(directories.use(fromText('a/none/b'), async () => undefined)).rejects.toMatchObject({
      code: 'ENOENT',
    });
    await expect(directories.use(fromText('a/b'), async () => 'there')).resolves.toBe('there');
    await directories.close();
    expect(descriptors()).toEqual([]);
  });
});

const opened: number[] = [];

function openedOf(path: string): number {
  const fd = openSync(path, 'r');
  opened.push(fd);
  return fd;
}
