import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Sandbox } from '../../../clients/typescript/src/index.ts';
import { END, headerOf, padding } from '../../../clients/typescript/src/local/tar.ts';
import { untar } from '../../../clients/typescript/src/local/untar.ts';
import type { Answer } from './fake-server.ts';
import { type Case, pulled, tarOf } from './pull-cases.ts';
import { put, snapshot } from './pull-trees.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paddock-pull-'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Bytes of the first header. */
const HEADER = 512;

it('refuses options that are null, and an answer of "only" that is neither true nor false', async () => {
  const sandbox = new Sandbox({} as never, { id: 'sb_1', codebaseId: 'cb_1' } as never, { sandbox: false });
  await expect(sandbox.pull(root, null as never)).rejects.toThrow('options must be an object');
  const given: Case = { name: '', sandbox: { a: '1' } };
  for (const answer of [async () => false, () => Promise.reject(new Error('late')), () => null, () => 1]) {
    const only = () => answer() as never;
    await expect(pulled(given, root, { only })).rejects.toThrow('only must return true or false');
  }
  expect(await readdir(root)).toEqual([]);
});

it('removes nothing before all contents are here', async () => {
  const given: Case = { name: '', base: { gone: 'g' }, sandbox: { gone: null, new: 'n' } };
  put(root, given.base!);
  const cut: Answer = (res) => {
    res.writeHead(200);
    res.write(tarOf(given).subarray(0, HEADER), () => setImmediate(() => res.destroy()));
  };
  await expect(pulled(given, root, { archive: cut })).rejects.toMatchObject({ name: 'ConnectionFailedError' });
  expect(snapshot(root)).toEqual({ gone: '644 g' });
  expect(await pulled(given, root)).toMatchObject({ applied: ['gone', 'new'] });
  expect(snapshot(root)).toEqual({ new: '644 n' });
});

it('is not led elsewhere by a directory that becomes a symlink while it receives', async () => {
  const given: Case = { name: '', base: { 'd/a': 'old', 'outside/a': 'old' }, sandbox: { 'd/a': 'new' } };
  put(root, given.base!);
  const archive: Answer = async (res) => {
    res.write(tarOf(given).subarray(0, HEADER));
    await expect.poll(async () => (await readdir(join(root, 'd'))).length).toBe(2);
    renameSync(join(root, 'd'), join(root, 'moved'));
    symlinkSync('outside', join(root, 'd'));
    res.end(tarOf(given).subarray(HEADER));
  };
  expect(await pulled(given, root, { archive })).toMatchObject({ applied: [], conflicts: ['d/a'] });
  const [outside, moved] = [
    { outside: 'directory', 'outside/a': '644 old' },
    { moved: 'directory', 'moved/a': '644 old' },
  ];
  expect(snapshot(root)).toEqual({ d: '-> outside', ...outside, ...moved });
});

it('names of archives keep their spaces and marks', async () => {
  const names = [' a ', 'b\n', '\ufeffc'];
  const entry = { type: 'file', mode: 0o644, mtimeMs: 0, size: 1 } as const;
  const files = names.flatMap((path) => [headerOf({ ...entry, path }), Buffer.from('x'), padding(1)]);
  const link = headerOf({ ...entry, path: 'l', type: 'symlink', size: 0, target: ' t\n' });
  const read = [];
  for await (const { path, target } of untar(new Blob([Buffer.concat([...files, link, END])]).stream()))
    read.push(target || path);
  expect(read).toEqual([...names, ' t\n']);
});
