import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { emptyDirectory } from '../../directory.ts';
import { servedOnce } from '../typescript/served.ts';
import { runCli } from './run-cli.ts';

const served = servedOnce();
let sandbox: Sandbox;
const directory = emptyDirectory();
beforeAll(async () => {
  sandbox = await served.paddock().sandboxes.create({ preset: 'development' });
});
beforeEach(async () => {
  await mkdir(join(directory, 'src/empty'), { recursive: true });
  await writeFile(join(directory, 'src/run.sh'), '#!/bin/sh\n');
  await chmod(join(directory, 'src/run.sh'), 0o750);
  await utimes(join(directory, 'src/run.sh'), 1_600_000_000, 1_600_000_000);
  await symlink('run.sh', join(directory, 'src/link'));
});

const at = (path: string) => join(directory, path);
const box = (path: string) => `${sandbox.id}:${path}`;
const cp = (args: readonly string[], input?: Uint8Array) => runCli(['cp', ...args], { url: served.url, input });
const inSandbox = async (command: string) => (await sandbox.run(command)).stdout;

it('directories go both ways by the names of docker, with modes, times and links', async () => {
  const up = await cp([at('src'), box('copy')]);
  expect([up.exitCode, up.stderr]).toEqual([
    0,
    `copied 1 file, 1 directory, 1 symlink (10 B) to ${sandbox.id}:/workspace/copy\n`,
  ]);
  expect(await inSandbox('stat -c "%a %Y" copy/run.sh; readlink copy/link; ls -d copy/empty')).toBe(
    '750 1600000000\nrun.sh\ncopy/empty\n',
  );
  // Into a directory that is there, and then only what is in it.
  expect((await cp([at('src'), box('/workspace/copy')])).exitCode).toBe(0);
  expect((await cp([at('src/.'), box('/copy/sub')])).exitCode).toBe(0);
  expect(await inSandbox('ls copy copy/src copy/sub | grep -c run.sh')).toBe('3\n');
  expect((await cp([box('copy/src'), at('back')])).exitCode).toBe(0);
  const script = await lstat(at('back/run.sh'));
  expect([script.mode & 0o777, script.mtimeMs]).toEqual([0o750, 1_600_000_000_000]);
  expect(await readlink(at('back/link'))).toBe('run.sh');
});

it('single files, links and what they point to', async () => {
  await cp([at('src/run.sh'), box('bin/tool')]);
  expect((await cp([box('bin/tool'), at('.')])).exitCode).toBe(0);
  expect((await lstat(at('tool'))).mode & 0o777).toBe(0o750);
  await inSandbox('ln -s tool bin/link; ln -s /etc/shadow bin/out');
  await cp([box('bin/link'), at('link')]);
  await cp(['-L', box('bin/link'), at('followed')]);
  expect([await readlink(at('link')), await readFile(at('followed'), 'utf8')]).toEqual(['tool', '#!/bin/sh\n']);
  const out = await cp(['-L', box('bin/out'), at('shadow')]);
  expect([out.exitCode, out.stderr]).toEqual([1, expect.stringContaining('outside the workspace')]);
});

it('archives, with the name of the directory unless its contents are asked for', async () => {
  const archive = execFileSync('tar', ['-c', '-C', directory, 'src']);
  expect((await cp(['-', box('/')], archive)).exitCode).toBe(0);
  const names = async (path: string) => {
    const { stdout } = await cp([box(path), '-']);
    return execFileSync('tar', ['-t'], { input: stdout, encoding: 'utf8' }).trimEnd().split('\n').sort();
  };
  expect(await names('src')).toEqual(['src/', 'src/empty/', 'src/link', 'src/run.sh']);
  expect(await names('src/.')).toEqual(['empty/', 'link', 'run.sh']);
  expect(await names('src/run.sh')).toEqual(['run.sh']);
  const cut = await cp(['-', box('/')], archive.subarray(0, 700));
  expect(cut.exitCode).toBe(1);
});

it('names what an archive of a directory does not have: FIFOs and the like, and what the agent may not read', async () => {
  await using ruled = await served.paddock().sandboxes.create({ rules: { view: ['d/secret'], write: ['**'] } });
  await ruled.run('mkdir -p d/in && mkfifo d/in/fifo && echo x > d/file', { check: true });
  await ruled.files.asOwner().write('d/secret', 'x');
  const leftOut = async (...args: string[]) => {
    const { exitCode, stderr } = await cp(args);
    expect(exitCode).toBe(0);
    return stderr.match(/^left out .*$/gm);
  };
  const fifo = 'left out in/fifo: it is neither a file, a directory nor a symlink';
  expect(await leftOut(`${ruled.id}:d`, at('.'))).toEqual([fifo]);
  expect(await leftOut('--as', 'agent', `${ruled.id}:d/.`, at('read'))).toEqual([
    fifo,
    'left out secret: it is not readable, or not there any more',
  ]);
  expect(await leftOut(`${ruled.id}:d`, '-')).toEqual([fifo]);
});

it('follows no symlink that has the name of the copy, and replaces no device', async () => {
  await inSandbox('mkdir -p led && echo x > led/x');
  await mkdir(at('outside'));
  await mkdir(at('target'));
  await symlink(at('outside'), at('target/led'));
  const led = await cp([box('led'), at('target')]);
  expect([led.exitCode, led.stderr]).toEqual([1, expect.stringContaining('which is not followed')]);
  expect(await readdir(at('outside'))).toEqual([]);
  execFileSync('mkfifo', [at('fifo'), at('target/x')]);
  for (const target of ['fifo', 'target'])
    expect(await cp([box('led/x'), at(target)])).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/is /) });
  for (const path of ['fifo', 'target/x']) expect((await lstat(at(path))).isFIFO()).toBe(true);
});

it('replaces no symlink that is named as the file to write', async () => {
  await inSandbox('echo new > plain');
  await writeFile(at('real'), 'here');
  await symlink('real', at('named'));
  const { exitCode, stderr } = await cp([box('plain'), at('named')]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('is a symbolic link: name the file itself')]);
  expect([await readlink(at('named')), await readFile(at('real'), 'utf8')]).toEqual(['real', 'here']);
});

it('leaves out names and targets that are not UTF-8, and says so', async () => {
  const odd = String.raw`$(printf 'b\376')`;
  await inSandbox(`mkdir odd; echo one > "odd/${odd}"; ln -s "${odd}" odd/link; echo two > odd/plain`);
  const { stderr } = await cp([box('odd'), at('.')]);
  expect(stderr).toContain('its name is not UTF-8');
  expect(stderr).toContain('which is not UTF-8');
  expect(await readdir(at('odd'))).toEqual(['plain']);
});

it('of a directory here, what .gitignore files name and other paths can be left out', async () => {
  await writeFile(at('src/.gitignore'), 'run.sh\n');
  expect((await cp(['--gitignore', '--exclude', 'empty', at('src'), box('some')])).exitCode).toBe(0);
  expect(await inSandbox('ls -A some')).toBe('.gitignore\nlink\n');
});

it.each([
  [() => [box('none'), at('x')], /there is no \/workspace\/none in the sandbox/, 1],
  [() => [at('none'), box('x')], /there is no .*none/, 1],
  [() => [at('src'), box('file')], /file is not a directory/, 1],
  [() => [box('file'), at('no/such')], /there is no directory/, 1],
  [() => ['-', box('missing')], /missing does not exist/, 1],
  [() => [at('src'), at('x')], /exactly one of the two/, 2],
])('refuses what cannot be copied %#', async (args, error, code) => {
  await sandbox.files.write('file', 'x');
  const { exitCode, stderr } = await cp(args());
  expect([exitCode, stderr]).toEqual([code, expect.stringMatching(error)]);
});
