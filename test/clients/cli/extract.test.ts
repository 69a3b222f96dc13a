import { chown, lstat, mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Extraction } from '../../../clients/cli/src/copy/extract.ts';
import { sideOf } from '../../../clients/cli/src/copy/place-of.ts';
import { END, type Entry, headerOf, padding } from '../../../clients/typescript/src/local/tar.ts';
import { untar } from '../../../clients/typescript/src/local/untar.ts';
import { emptyDirectory } from '../../directory.ts';

const directory = emptyDirectory();
let root: string;
beforeEach(async () => {
  root = join(directory, 'target');
  await mkdir(root);
  await writeFile(join(directory, 'secret'), 'secret');
});

type Given = Partial<Entry> & { path: string; content?: string };

const file = (path: string, content = 'x', mode = 0o644): Given => ({ path, content, mode });
const linkTo = (path: string, target: string): Given => ({ path, type: 'symlink', target });

const extract = (...members: Given[]) => extractBeside(async () => undefined, ...members);

/** `meanwhile`: what another user does before a member is written; an empty path: before the end. */
async function extractBeside(meanwhile: (path: string) => Promise<void>, ...members: Given[]) {
  const pieces = members.flatMap(
    ({ content = '', type = 'file', mode = 0o755, mtimeMs = 1_700_000_000_250, ...more }) => {
      const size = type === 'file' ? content.length : 0;
      return [headerOf({ ...more, type, mode, mtimeMs, size }), Buffer.from(content), padding(size)];
    },
  );
  const archive = ReadableStream.from([...pieces, END]) as ReadableStream<Uint8Array>;
  const extraction = new Extraction(root, '', async () => undefined);
  try {
    for await (const member of untar(archive)) {
      await meanwhile(member.path);
      await extraction.add(member);
    }
    await meanwhile('');
    return extraction.end();
  } finally {
    extraction.close();
  }
}

/** Nothing but the target was changed, and no temporary file is left. */
async function untouched(): Promise<void> {
  expect((await readdir(directory)).sort()).toEqual(['secret', 'target']);
  expect(await readFile(join(directory, 'secret'), 'utf8')).toBe('secret');
  // Only with types, Node does not follow links.
  const all = await readdir(root, { recursive: true, withFileTypes: true });
  expect(all.map(({ name }) => name).filter((name) => name.endsWith('.tmp'))).toEqual([]);
}

describe('an archive is written', () => {
  it('with modes, times and links, also below directories that forbid it', async () => {
    const copied = await extract(
      { path: 'd', type: 'directory', mode: 0o555 },
      file('d/a.sh', 'echo', 0o4750),
      file('no/such/parent', ''),
      linkTo('d/link', '/etc/passwd'),
    );
    expect(copied).toEqual({ files: 2, directories: 1, symlinks: 1, bytes: 4 });
    const script = await lstat(join(root, 'd/a.sh'));
    // Never the bit that makes it run as its owner.
    expect([script.mode & 0o7777, script.mtimeMs]).toEqual([0o750, 1_700_000_000_250]);
    expect((await lstat(join(root, 'd'))).mode & 0o777).toBe(0o555);
    expect(await readlink(join(root, 'd/link'))).toBe('/etc/passwd');
    await untouched();
  });

  it('for the owner of what it replaces, or of the directory', async () => {
    await writeFile(join(root, 'kept'), 'old');
    await chown(root, 4242, 4242);
    await chown(join(root, 'kept'), 4242, 4343);
    await extract(file('kept'), { path: 'd', type: 'directory' }, file('d/a'), linkTo('l', 'kept'));
    const owners = await Promise.all(['kept', 'd', 'd/a', 'l'].map((name) => lstat(join(root, name))));
    expect(owners.map(({ uid, gid }) => [uid, gid])).toEqual([[4242, 4343], ...Array(3).fill([4242, 4242])]);
  });

  it('over what is there, without following it', async () => {
    await symlink(join(directory, 'secret'), join(root, 'a'));
    await extract(file('a', 'new'));
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('new');
    await untouched();
  });
});

describe('an archive is refused', () => {
  it.each([
    ['a file below a symlink of its own', [linkTo('l', '..'), file('l/secret', 'bad')]],
    ['a file below an absolute symlink of its own', [linkTo('l', '/nonexistent'), file('l/a', 'bad')]],
    ['a directory in the place of a symlink', [linkTo('l', '..'), { path: 'l', type: 'directory' as const }]],
    ['a file in the place of a directory', [{ path: 'd', type: 'directory' as const }, file('d')]],
    ['a symlink in the place of a directory, to write below it', [file('d/a'), linkTo('d', '..'), file('d/secret')]],
    ['a file below a file', [file('f'), file('f/a')]],
  ])('with %s', async (_, members) => {
    await expect(extract(...members)).rejects.toThrow(/is not a directory|would be replaced by a/);
    await untouched();
  });

  it('with a file below a symlink that was there', async () => {
    await symlink('..', join(root, 'l'));
    await expect(extract(file('l/secret', 'bad'))).rejects.toThrow(/reached by a symbolic link/);
    await untouched();
  });
});

describe('a directory that another user exchanges for a symlink meanwhile', () => {
  const exchange = async (before: string, path: string) => {
    if (path !== before) return;
    await rename(join(root, 'd'), join(root, 'moved'));
    await symlink('..', join(root, 'd'));
  };

  it('is written to no more, nor is the target of the symlink', async () => {
    const done = extractBeside((path) => exchange('d/secret', path), file('d/a'), file('d/secret', 'bad'));
    await expect(done).rejects.toThrow(/target\/d\/secret was moved or replaced/);
    expect(await readdir(join(root, 'moved'))).toEqual(['a']);
    await untouched();
  });

  it.each([
    ['a file', file('d/new')],
    ['a directory', { path: 'd/e', type: 'directory' as const }],
    ['a symlink', linkTo('d/l', 'a')],
  ])('gets no more once it is outside of the target: not %s', async (_, member) => {
    const moveOut = async (path: string) => {
      if (path === member.path) await rename(join(root, 'd'), join(directory, 'outside'));
    };
    await expect(extractBeside(moveOut, file('d/a'), member)).rejects.toThrow(/was moved or replaced/);
    expect(await readdir(join(directory, 'outside'))).toEqual(['a']);
    await rm(join(directory, 'outside'), { recursive: true });
    await untouched();
  });

  it('gets neither mode nor times once it is outside of the target', async () => {
    const moveOut = async (path: string) => {
      if (path === '') await rename(join(root, 'd'), join(directory, 'outside'));
    };
    const members = [{ path: 'd', type: 'directory' as const, mode: 0o777 }, file('d/a')];
    await expect(extractBeside(moveOut, ...members)).rejects.toThrow(/target\/d was moved or replaced/);
    expect((await lstat(join(directory, 'outside'))).mode & 0o777).toBe(0o700);
    await rm(join(directory, 'outside'), { recursive: true });
    await untouched();
  });

  it('that is replaced by one while a file arrives keeps that file out', async () => {
    const content = async function* () {
      yield Buffer.from('b');
      await exchange('', '');
      yield Buffer.from('ad');
    };
    await extract(file('d/a'));
    const extraction = new Extraction(root, '', async () => undefined);
    const more = { mode: 0o644, mtimeMs: 0, size: 3, target: '' };
    const added = extraction.add({ path: 'd/secret', type: 'file', ...more, content: content() });
    await expect(added).rejects.toThrow(/was moved or replaced/);
    extraction.close();
    expect(await readdir(join(root, 'moved'))).toEqual(['a']);
    await untouched();
  });

  it('gives no file below the target its mode or times', async () => {
    const before = await lstat(directory);
    const members = [{ path: 'd', type: 'directory' as const, mode: 0o777 }, file('f')];
    const done = extractBeside((path) => exchange('', path), ...members);
    await expect(done).rejects.toThrow(/ELOOP|ENOTDIR/);
    const { mode, mtimeMs } = await lstat(directory);
    expect([mode, mtimeMs]).toEqual([before.mode, before.mtimeMs]);
    await untouched();
  });
});

describe('a side of a copy', () => {
  it.each([
    ['-', { kind: 'stream' }],
    ['a.txt', { kind: 'local', path: 'a.txt' }],
    ['./a:b', { kind: 'local', path: './a:b' }],
    ['/a:b', { kind: 'local', path: '/a:b' }],
    ['box:', { kind: 'sandbox', sandbox: 'box', path: '', contents: false, slash: false }],
    ['box:/workspace/a/', { kind: 'sandbox', sandbox: 'box', path: 'a', contents: false, slash: true }],
    ['box:workspaces', { kind: 'sandbox', sandbox: 'box', path: 'workspaces', contents: false, slash: false }],
    ['box:/a//b/.', { kind: 'sandbox', sandbox: 'box', path: 'a/b', contents: true, slash: false }],
  ])('%s', (given, side) => {
    expect(sideOf(given)).toEqual(side);
  });

  it('never leads out of the workspace', () => {
    for (const bad of ['box:../x', 'box:/a/../../x', 'box:..']) expect(() => sideOf(bad)).toThrow(/must not have ".."/);
  });
});
