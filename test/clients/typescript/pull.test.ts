import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Paddock, type PullOptions, Sandbox } from '../../../clients/typescript/src/index.ts';
import { END, headerOf, padding } from '../../../clients/typescript/src/local/tar.ts';
import { untar } from '../../../clients/typescript/src/local/untar.ts';
import { type Answer, fakeServer, json } from './fake-server.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-pull-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function put(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
}

const entry = (path: string, type: 'file' | 'directory' | 'symlink', content = '', target = '') => {
  const size = Buffer.byteLength(content);
  return [headerOf({ path, type, mode: 0o644, mtimeMs: 0, size, target }), Buffer.from(content), padding(size)];
};
const file = (path: string, content: string) => entry(path, 'file', content);

interface Change {
  path: string;
  [field: string]: unknown;
}

const change = (kind: string, path: string, more: object = {}): Change => ({
  ...{
    path,
    kind: `CHANGE_${kind}`,
    type: 'TYPE_FILE',
    base_type: 'TYPE_FILE',
    size: 1,
    base_mode: 0o644,
    mode: 0o644,
  },
  ...{ renamed_from: '', ...more },
});

const sha256 = (content: Uint8Array | string | undefined) =>
  content === undefined ? '' : createHash('sha256').update(content).digest('hex');

/** As the server lists a change, of which the archive has these contents. */
const withLocal = (each: Change, contents: ReadonlyMap<string, Uint8Array>, base: Record<string, string>) => {
  const [content, was] = [sha256(contents.get(each.path)), sha256(base[each.path])];
  return { local: { base_sha256: was, base_link_target: '', sha256: content, link_target: '' }, ...each };
};

interface Given {
  changes: Change[];
  /** Contents that the list knows, if the archive is made otherwise. */
  contents?: Record<string, string>;
  archive: Uint8Array[][] | Answer;
  /** Contents of the codebase. */
  base?: Record<string, string>;
}

async function pulled({ changes, archive, contents = {}, base = {} }: Given, options: PullOptions = {}) {
  const known = new Map(Object.entries(contents).map(([path, text]) => [path, Buffer.from(text) as Uint8Array]));
  if (typeof archive !== 'function')
    for await (const { path, content } of untar(new Blob([Buffer.concat([...archive.flat(), END])]).stream()))
      for await (const piece of content) known.set(path, piece);
  const listed = changes.map((each) => withLocal(each, known, base));
  const { url } = await fakeServer((res, seen) => {
    const { pathname, searchParams } = new URL(seen.url, 'http://x');
    if (!searchParams.has('format') && pathname.endsWith('/changes'))
      return json({ changes: listed, next_page_token: '' })(res, seen);
    if (pathname.includes('/codebases/')) return res.end(base[pathname.replace(/.*\/files\//, '')] ?? '');
    if (typeof archive === 'function') return archive(res, seen);
    res.end(Buffer.concat([...archive.flat(), END]));
  });
  const info = { id: 'sb_1', codebaseId: 'cb_1' } as never;
  return new Sandbox(new Paddock({ url, maxRetries: 0 }).api, info).pull(directory, options);
}

describe('hunks of a pull', () => {
  const DIFF = {
    ...{ base_sha256: 'b', sha256: 's', no_hunks: '', base_mode: 0o644 },
    hunks: [
      { old_start: 1, old_lines: 1, removed: 'a\n', added: 'A\n' },
      { old_start: 2, old_lines: 1, removed: 'b\n', added: 'B\n' },
    ],
  };
  const changes = [change('MODIFIED', 'f', { mode: 0o755, diff: DIFF }), change('ADDED', 'new')];
  const given = { changes, archive: [file('f', 'A\nB\n'), file('new', 'n')], base: { f: 'a\nb\n' } };
  const part = (more: object = {}) => ({ path: 'f', baseSha256: 'b', sha256: 's', indexes: [1], ...more });

  it('are all that comes of a file, with the mode that it has here', async () => {
    await put({ f: 'a\nb\n' });
    const { applied, conflicts } = await pulled(given, { hunks: [part()], only: () => false });
    expect({ applied, conflicts }).toEqual({ applied: ['f'], conflicts: [] });
    expect(await readFile(join(directory, 'f'), 'utf8')).toBe('a\nB\n');
    expect((await lstat(join(directory, 'f'))).mode & 0o111).toBe(0);
    expect(await readdir(directory)).toEqual(['f']);
  });

  it('of a renamed file bring the rename, and nothing of another file at its old path', async () => {
    await put({ old: 'a\nb\n' });
    const renamed = [change('ADDED', 'f', { mode: 0o755, diff: DIFF, renamed_from: 'old' })];
    const archive = [file('f', 'A\nB\n'), file('old', 'other')];
    const base = { old: 'a\nb\n' };
    const other = { changes: [...renamed, change('MODIFIED', 'old')], archive, base };
    expect((await pulled(other, { hunks: [part()], only: () => false, dryRun: true })).applied).toEqual(['f']);
    const removed = { changes: [...renamed, change('DELETED', 'old')], archive, base };
    const { applied, conflicts } = await pulled(removed, { hunks: [part()], only: () => false });
    expect({ applied, conflicts }).toEqual({ applied: ['f', 'old'], conflicts: [] });
    expect(await readFile(join(directory, 'f'), 'utf8')).toBe('a\nB\n');
    expect((await lstat(join(directory, 'f'))).mode & 0o111).toBe(0);
    expect(await readdir(directory)).toEqual(['f']);
  });

  it('of another version are refused, and nothing is written', async () => {
    await put({ f: 'a\nb\n' });
    const asked = pulled(given, { hunks: [part({ sha256: 'other' })], only: () => true });
    await expect(asked).rejects.toThrow('hunks: "f" has other contents by now; list the changes again');
    expect(await readdir(directory)).toEqual(['f']);
  });
});

describe('pull', () => {
  it('removes nothing before all contents are here', async () => {
    await put({ gone: 'g' });
    const changes = [change('DELETED', 'gone'), change('ADDED', 'new')];
    const cut: Answer = (res) => {
      res.writeHead(200);
      res.write(Buffer.concat(file('new', 'n').slice(0, 1)), () => setImmediate(() => res.destroy()));
    };
    await expect(pulled({ changes, archive: cut, contents: { new: 'n' }, base: { gone: 'g' } })).rejects.toMatchObject({
      name: 'ConnectionFailedError',
    });
    expect(await readdir(directory)).toEqual(['gone']);
    const done = await pulled({ changes, archive: [file('new', 'n')], base: { gone: 'g' } });
    expect([done.applied, await readdir(directory)]).toEqual([['gone', 'new'], ['new']]);
  });

  it('removes first what is in the place of a file, and a renamed file only with its new path', async () => {
    await put({ 'd/a': 'a', 'd/b/c': 'c', old: 'o', target: 'edited' });
    const directoryType = { type: 'TYPE_DIRECTORY' };
    const changes = [
      change('MODIFIED', 'd', { base_type: 'TYPE_DIRECTORY' }),
      change('DELETED', 'd/a'),
      change('DELETED', 'd/b', directoryType),
      change('DELETED', 'd/b/c'),
      change('DELETED', 'old'),
      change('ADDED', 'target', { renamed_from: 'old' }),
    ];
    const base = { 'd/a': 'a', 'd/b/c': 'c', old: 'o' };
    const result = await pulled({ changes, archive: [file('d', 'file'), file('target', 'o')], base });
    expect(result).toMatchObject({ applied: ['d', 'd/a', 'd/b', 'd/b/c'], conflicts: ['old', 'target'] });
    expect(await readFile(join(directory, 'd'), 'utf8')).toBe('file');
    expect(await readFile(join(directory, 'old'), 'utf8')).toBe('o');
  });

  it('goes on after a path that the local file system refuses, with names as long as can be', async () => {
    const [longest, tooLong] = ['a'.repeat(255), 'b'.repeat(256)];
    const changes = [change('ADDED', longest), change('ADDED', tooLong), change('ADDED', 'z')];
    const archive = [file(longest, '1'), file(tooLong, '2'), file('z', '3')];
    const result = await pulled({ changes, archive });
    expect(result.applied).toEqual([longest, 'z']);
    expect(result.failed).toMatchObject([{ path: tooLong, error: { code: 'ENAMETOOLONG' } }]);
    expect((await readdir(directory)).sort()).toEqual([longest, 'z']);
  });

  it('keeps what is edited while it runs', async () => {
    await put({ a: 'old' });
    const archive: Answer = (res) => {
      const [header, content, end] = file('a', 'new') as [Uint8Array, Uint8Array, Uint8Array];
      res.write(header);
      // The new content is being received, so the old one was looked at.
      const received = expect.poll(async () => (await readdir(directory)).length).toBe(2);
      void received.then(() => put({ a: 'edited' })).then(() => res.end(Buffer.concat([content, end, END])));
    };
    const result = await pulled({
      changes: [change('MODIFIED', 'a')],
      archive,
      contents: { a: 'new' },
      base: { a: 'old' },
    });
    expect(result).toMatchObject({ applied: [], conflicts: ['a'] });
    expect([await readFile(join(directory, 'a'), 'utf8'), await readdir(directory)]).toEqual(['edited', ['a']]);
  });

  it('is not led elsewhere by a directory that becomes a symlink while it runs', async () => {
    await put({ 'd/a': 'old', 'outside/b': 'b' });
    const archive: Answer = (res) => {
      const [header, content, end] = file('d/a', 'new') as [Uint8Array, Uint8Array, Uint8Array];
      res.write(header);
      const received = expect.poll(async () => (await readdir(join(directory, 'd'))).length).toBe(2);
      const swap = async () => {
        await rename(join(directory, 'd'), join(directory, 'moved'));
        await symlink('outside', join(directory, 'd'));
      };
      void received.then(swap).then(() => res.end(Buffer.concat([content, end, END])));
    };
    const result = await pulled({
      changes: [change('MODIFIED', 'd/a')],
      archive,
      contents: { 'd/a': 'new' },
      base: { 'd/a': 'old' },
    });
    expect(result).toMatchObject({ applied: [], conflicts: ['d/a'] });
    const of = (name: string) => readdir(join(directory, name));
    expect([await of('outside'), await of('moved')]).toEqual([['b'], ['a']]);
    expect(await readFile(join(directory, 'moved/a'), 'utf8')).toBe('old');
  });

  it('creates the directories of a path, and says what the local file system refuses without its own paths', async () => {
    await put({ 'd/x': 'x' });
    const changes = [change('ADDED', 'n/e/w'), change('ADDED', `d/${'b'.repeat(256)}`)];
    const result = await pulled({ changes, archive: [file('n/e/w', 'n'), file(`d/${'b'.repeat(256)}`, 'b')] });
    expect([result.applied, await readFile(join(directory, 'n/e/w'), 'utf8')]).toEqual([['n/e/w'], 'n']);
    expect(result.failed.map(({ error }) => error.message)).toEqual([expect.not.stringContaining('/proc')]);
  });

  it('leaves files out that do not fit, by what the list says and by what comes', async () => {
    const changes = [change('ADDED', 'a', { size: 1000 }), change('ADDED', 'b', { size: 1 })];
    const large = { changes, archive: [file('a', '1'), file('b', '2')] };
    const option = 'maxBytes';
    const reason = 'it has 1000 bytes, and all that comes may have 999';
    const listed = await pulled(large, { maxBytes: 999 });
    expect([listed.applied, listed.skipped]).toEqual([['b'], [{ path: 'a', reason, option }]]);
    const more = { changes: [change('ADDED', 'a')], archive: [file('a', '1'.repeat(1000))] };
    expect((await pulled(more, { maxBytes: 999 })).skipped).toEqual([{ path: 'a', reason, option }]);
    expect(await readdir(directory)).toEqual(['b']);
  });

  it('says what it leaves out, and why', async () => {
    const refused = { refusal: { reason: 'it is out of the directory', allow: '', git: false } };
    const changes = ['link', 'a\ufffd', 'late'].map((path) =>
      change('ADDED', path, path === 'link' ? { local: refused } : {}),
    );
    const result = await pulled({ changes, archive: [] }, { git: true });
    expect(result.skipped).toEqual([
      { path: 'late', reason: expect.stringMatching(/changed it meanwhile/) },
      { path: 'link', reason: 'it is out of the directory' },
    ]);
    expect(result.failed).toMatchObject([{ path: 'a\ufffd', error: { message: 'its name is not UTF-8' } }]);
    expect([result.conflicts, await readdir(directory)]).toEqual([[], []]);
    await expect(lstat(join(directory, 'link'))).rejects.toThrow();
  });
});

it('names of archives keep their spaces and marks', async () => {
  const names = [' a ', 'b\n', '\ufeffc'];
  const archive = Buffer.concat([
    ...names.flatMap((name) => file(name, 'x')),
    ...entry('l', 'symlink', '', ' t\n'),
    END,
  ]);
  const read = [];
  for await (const { path, target } of untar(new Blob([archive]).stream())) read.push(target || path);
  expect(read).toEqual([...names, ' t\n']);
});
