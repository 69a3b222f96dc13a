import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTimeOf } from '../../../clients/cli/src/local/record.ts';
import { directoryOfFile } from '../../directory.ts';
import { cli, type Ended } from './cli.ts';

const PACKAGE = resolve(import.meta.dirname, '../../../clients/cli');
const run = promisify(execFile);

/** An empty folder, with the packed package installed in it, and the state of its local server. */
const folder = directoryOfFile();
const paddock = (...args: string[]): Promise<Ended> =>
  cli(args, {
    bundle: join(folder, 'node_modules/.bin/paddock'),
    cwd: folder,
    env: { HOME: folder, PADDOCK_LOCAL_STATE: join(folder, 'state') },
  });

beforeAll(async () => {
  // Without the variables of `npm test`, which name the server's package.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const pack = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: PACKAGE, env });
  await writeFile(join(folder, 'package.json'), '{"private": true}');
  const install = ['install', '--offline', '--no-audit', '--no-fund', '--silent'];
  await run('npm', [...install, `./${stdout.trim().split('\n').at(-1)}`], { cwd: folder, env });
});
afterAll(async () => {
  await paddock('server', 'stop');
});

it('is the command line and the server, installed into an empty folder', async () => {
  const { version } = JSON.parse(await readFile(join(PACKAGE, '../../package.json'), 'utf8'));
  const said = { code: 0, stdout: `paddock ${version}\n`, stderr: '' };
  expect(await paddock('--version')).toEqual(said);
  expect(await paddock('serve', '--version')).toEqual(said);
  expect(await paddock('--help')).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n {2}run +run a command/) });
  expect(JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')).version).toBe(version);
});

it('starts one local server for two who ask at once, which nobody else can use, and ends it', async () => {
  expect(await paddock('server', 'status')).toMatchObject({ code: 1, stdout: 'no local server runs\n' });
  const both = await Promise.all([paddock('server', 'start', '--json'), paddock('server', 'start', '--json')]);
  const [{ url, pid }, other] = both.map(({ stdout }) => JSON.parse(stdout));
  expect(other).toEqual({ url, pid });
  // From now on it is the server of every command.
  expect(await paddock('run', '--tools', 'none', '--', 'echo', 'hi')).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
  expect((await fetch(`${url}/v1/sandboxes`)).status).toBe(401);
  const state = join(folder, 'state');
  expect((await stat(state)).mode & 0o777).toBe(0o700);
  expect((await stat(join(state, 'server.json'))).mode & 0o777).toBe(0o600);
  expect((await readdir(state)).filter((name) => /^server\./.test(name)).sort()).toEqual([
    'server.json',
    'server.log',
    'server.yaml',
  ]);
  expect(await paddock('server', 'stop')).toMatchObject({ code: 0, stdout: 'stopped\n' });
  expect(startTimeOf(pid)).toBeUndefined();
  expect(await paddock('verify', '-config', join(state, 'server.yaml'))).toMatchObject({ code: 0 });
});
