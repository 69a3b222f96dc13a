import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { archiveOf, type PackOptions } from '../../../clients/typescript/src/local/index.ts';
import { untar } from '../../../clients/typescript/src/local/untar.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-local-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function put(files: Record<string, string>, root = directory): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

async function packed(options: PackOptions = {}): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of archiveOf(directory, options)()) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

const tar = (args: string[], input: Uint8Array) => execFileSync('tar', args, { input, encoding: 'utf8' });
const namesOf = async (options?: PackOptions) =>
  tar(['-tf', '-'], await packed(options))
    .trimEnd()
    .split('\n')
    .sort();

describe('an archive of a directory', () => {
  it('is read by tar, with long names, modes, links and times', async () => {
    const long = `${'d'.repeat(120)}/${'f'.repeat(200)}ä.txt`;
    await put({ [long]: 'long', 'a.sh': '#!/bin/sh\n', empty: '', 'just-a-block': 'x'.repeat(512) });
    await chmod(join(directory, 'a.sh'), 0o750);
    await utimes(join(directory, 'a.sh'), 1_700_000_000.25, 1_700_000_000.25);
    await symlink(`${'t'.repeat(150)}`, join(directory, 'link'));
    const out = await mkdtemp(join(tmpdir(), 'paddock-untar-'));
    tar(['-xf', '-', '-C', out], await packed());
    expect(await readFile(join(out, long), 'utf8')).toBe('long');
    expect(await readlink(join(out, 'link'))).toBe('t'.repeat(150));
    const script = await lstat(join(out, 'a.sh'));
    expect([script.mode & 0o777, script.mtimeMs]).toEqual([0o750, 1_700_000_000_250]);
    const blob = new Blob([Buffer.from(await packed())]);
    const members = [];
    for await (const { path, type, size, mode } of untar(blob.stream())) members.push([path, type, size, mode]);
    expect(members).toContainEqual(['a.sh', 'file', 10, 0o750]);
    expect(members).toContainEqual([long, 'file', 4, 0o644]);
    await rm(out, { recursive: true });
  });

  it('has no hooks of git, unless they are asked for, and everything else of .git', async () => {
    const git = { '.git/hooks/pre-commit': '', '.git/config': '', '.git/HEAD': '', '.git/modules/m/hooks/x': '' };
    await put({ ...git, 'sub/.git/hooks/y': '', 'hooks/own': '' });
    const files = (await namesOf()).filter((name) => !name.endsWith('/'));
    expect(files).toEqual(['.git/HEAD', '.git/config', 'hooks/own']);
    expect(await namesOf({ gitHooks: true })).toContain('.git/hooks/pre-commit');
    expect(await namesOf({ exclude: ['.git'] })).toEqual(['hooks/', 'hooks/own', 'sub/']);
  });

  it('has nothing that a killed pull left', async () => {
    await put({ 'd/.paddock-0123456789abcdef.tmp': 'half', 'd/.paddock-x.tmp': 'mine' });
    expect(await namesOf()).toEqual(['d/', 'd/.paddock-x.tmp']);
  });

  it('leaves out what git would ignore', async () => {
    await put({
      '.gitignore': '\ufefffirst\n*.log\n!keep.log\nbuild/',
      'sub/.gitignore': '!*.log\nonly\n',
      ...Object.fromEntries(
        'first a.log keep.log build/x sub/build/y sub/s.log sub/only sub/deep/only sub/deep/d.log'
          .split(' ')
          .map((name) => [name, '']),
      ),
    });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' });
    git('init', '-q');
    await put({ '.git/info/exclude': 'excluded\n', excluded: '' });
    const expected = git('ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean).sort();
    const members = [];
    const blob = new Blob([Buffer.from(await packed({ gitignore: true, exclude: ['.git'] }))]);
    for await (const { path, type } of untar(blob.stream())) if (type === 'file') members.push(path);
    expect(members.sort()).toEqual(expected);
    expect(members).toContain('keep.log');
  });

  it('of a directory in a repository leaves out what the files above it name', async () => {
    await put({ '.gitignore': '*.log\n/app/top\n', '.git/info/exclude': 'excluded\n', 'app/.gitignore': '!own.log\n' });
    await put({ 'app/a.log': '', 'app/own.log': '', 'app/top': '', 'app/sub/top': '', 'app/excluded': '' });
    const pieces: Uint8Array[] = [];
    for await (const piece of archiveOf(join(directory, 'app'), { gitignore: true })()) pieces.push(piece);
    const names = tar(['-tf', '-'], Buffer.concat(pieces)).trimEnd().split('\n').sort();
    expect(names).toEqual(['.gitignore', 'own.log', 'sub/', 'sub/top']);
  });

  it('leaves out what is removed while it is read', async () => {
    await put({ a: 'a'.repeat(1024 * 1024), b: 'b', 'd/x': 'x' });
    await symlink('a', join(directory, 'd/link'));
    const pieces: Uint8Array[] = [];
    for await (const piece of archiveOf(directory)()) {
      pieces.push(Uint8Array.from(piece));
      for (const name of ['b', 'd']) await rm(join(directory, name), { recursive: true, force: true });
    }
    expect(tar(['-tf', '-'], Buffer.concat(pieces))).toBe('a\n');
  });

  it('comes in few large pieces, however small the files are', async () => {
    await put(Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, 'x'.repeat(1000)])));
    const lengths: number[] = [];
    for await (const piece of archiveOf(directory)()) lengths.push(piece.length);
    expect(lengths.slice(0, -1).every((length) => length === 256 * 1024)).toBe(true);
  });

  it('names the file whose name is not UTF-8', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${directory}/a`), Buffer.from([0xff])]), '');
    await expect(packed()).rejects.toThrow(/the name of "a\ufffd" is not UTF-8/);
    expect(await namesOf({ exclude: ['a*'] })).toEqual(['']);
    await put({ 'b\ufffd': '' });
    await symlink(Buffer.from([0xfe]), join(directory, 'link'));
    await expect(packed({ exclude: ['a*'] })).rejects.toThrow(/the target of the symlink "link" is not UTF-8/);
  });
});
