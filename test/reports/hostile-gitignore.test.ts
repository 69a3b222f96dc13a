import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { all } from '../../clients/cli/src/names/all.ts';
import { start } from '../clients/cli/cli.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-gitignore-'));
  await writeFile(join(directory, 'a'.repeat(255)), '');
  execFileSync('git', ['init', '-q', directory]);
});
afterEach(() => rm(directory, { recursive: true }));

const run = (...command: string[]) =>
  start(['run', '--from', directory, '--gitignore', '--apply', 'none', '--', ...command], { url: served.url });

it('patterns with many stars do not hold an upload', async () => {
  await writeFile(join(directory, '.gitignore'), `${'*a'.repeat(100)}b\n${'**/a'.repeat(100)}/c\n`);
  expect((await run('ls').ended).stdout).toContain('a'.repeat(255));
});

it('a .gitignore that never ends is not read', async () => {
  await symlink('/dev/zero', join(directory, '.gitignore'));
  await mkdir(join(directory, 'sub'));
  execFileSync('mkfifo', [join(directory, 'sub/.gitignore')]);
  expect(await run('ls').ended).toMatchObject({ code: 0 });
});

it('a signal ends an upload in which every path is compared with many patterns', async () => {
  const name = 'a'.repeat(200);
  await Promise.all(Array.from({ length: 3000 }, (_, at) => writeFile(join(directory, `${name}${at}`), '')));
  // Everything is left out, but only by the last pattern that is compared: no piece of the archive is made meanwhile.
  const slow = `*${'[ab]*'.repeat(150)}c\n`;
  await writeFile(join(directory, '.gitignore'), `*\n${slow.repeat(300)}`);
  const { child, ended } = run('true');
  // The codebase is made just before the upload begins.
  await expect.poll(async () => (await all(served.paddock().codebases.list())).length, { timeout: 20_000 }).toBe(1);
  const begun = performance.now();
  child.kill('SIGINT');
  expect((await ended).code).toBe(130);
  expect(performance.now() - begun).toBeLessThan(5000);
});
