import { execFileSync } from 'node:child_process';
import { chmod, chown, lstat, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cli } from '../clients/cli/cli.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const ALICE = 4242;
const STAFF = 4343;

const served = servedOnce();
const how = () => ({ url: served.url });
let project: string;

/** A project of a developer who runs this with sudo: her directory, in which one file is of another group. */
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'paddock-owner-'));
  await writeFile(join(project, 'kept'), 'old\n');
  await writeFile(join(project, 'tool'), '#!/bin/sh\n');
  await symlink('kept', join(project, 'link'));
  await mkdir(join(project, 'src'));
  for (const path of ['', 'kept', 'tool', 'src']) await chown(join(project, path), ALICE, ALICE);
  execFileSync('chown', ['-h', `${ALICE}:${ALICE}`, join(project, 'link')]);
  await chown(join(project, 'kept'), ALICE, STAFF);
  await chmod(join(project, 'kept'), 0o640);
  await chmod(join(project, 'tool'), 0o744);
});
afterEach(() => rm(project, { recursive: true }));

async function owners(...paths: string[]) {
  const found = await Promise.all(paths.map((path) => lstat(join(project, path))));
  return paths.map((path, at) => `${path} ${found[at]!.uid}:${found[at]!.gid}`);
}
const modeOf = async (path: string) => ((await lstat(join(project, path))).mode & 0o7777).toString(8);
const run = (script: string) =>
  cli(['run', '--from', project, '--preset', 'full-access', '--apply', 'all', '--', 'sh', '-c', script], how());

it('a file that root replaces keeps its owner, group and mode', async () => {
  expect((await run('echo new > kept; echo "exit 1" >> tool')).code).toBe(0);
  expect(await owners('kept', 'tool')).toEqual([`kept ${ALICE}:${STAFF}`, `tool ${ALICE}:${ALICE}`]);
  expect([await modeOf('kept'), await modeOf('tool')]).toEqual(['640', '744']);
});

it('a symlink that root replaces keeps its owner, and its target stays whose it is', async () => {
  await writeFile(join(project, 'other'), 'of root\n');
  expect((await run('ln -sfn other link')).code).toBe(0);
  expect(await owners('link', 'other')).toEqual([`link ${ALICE}:${ALICE}`, 'other 0:0']);
});

it('what root adds belongs to the owner of its directory, also in new directories', async () => {
  expect((await run('echo a > src/a; mkdir -p src/deep/er; echo b > src/deep/er/b; ln -s a src/l')).code).toBe(0);
  const paths = ['src/a', 'src/deep', 'src/deep/er', 'src/deep/er/b', 'src/l'];
  expect(await owners(...paths)).toEqual(paths.map((path) => `${path} ${ALICE}:${ALICE}`));
});

it('a set-user-id bit does not stay on contents from a sandbox', async () => {
  await chmod(join(project, 'tool'), 0o4755);
  expect((await run('echo "exit 1" >> tool')).code).toBe(0);
  expect(await modeOf('tool')).toBe('755');
});

it('cp leaves what it writes to the owner of the place, too', async () => {
  await using sandbox = await served.paddock().sandboxes.create({ from: project, preset: 'full-access' });
  await sandbox.run('echo c > kept; mkdir dir; echo d > dir/d', { check: true });
  for (const [from, to] of [
    ['kept', 'kept'],
    ['dir', '.'],
  ] as const) {
    const done = await cli(['cp', `${sandbox.id}:${from}`, join(project, to)], how());
    expect(done).toMatchObject({ code: 0 });
  }
  expect(await owners('kept', 'dir', 'dir/d')).toEqual([
    `kept ${ALICE}:${STAFF}`,
    `dir ${ALICE}:${ALICE}`,
    `dir/d ${ALICE}:${ALICE}`,
  ]);
});
