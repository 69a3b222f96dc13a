import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mountPoints } from '../../lib/sandboxes/host/layout.ts';
import { type Ended, Place } from './program.ts';

let place: Place;

beforeEach(() => {
  place = new Place();
});

afterEach(() => place.remove());

/** One line on stderr, exit code 1, and nothing said to be ready. */
function refusal({ code, stdout, stderr }: Ended): string {
  expect(stderr).toMatch(/^paddock: [^\n]+\n$/);
  expect(code).toBe(1);
  expect(stdout).not.toContain('ready');
  return stderr;
}

const MOCK = 'runtime: {type: mock}';

describe('the command line', () => {
  it.each(['--version', '-version'])('%s prints the version of package.json', async (flag) => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(await place.run([flag])).toEqual({ code: 0, stdout: `paddock ${version}\n`, stderr: '' });
  });

  it.each(['-h', '--help'])('%s prints the usage', async (flag) => {
    const { code, stdout } = await place.run([flag]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^usage: paddock/);
  });
});

it.each([[['--nope']], [['-runtime', 'podman']], [['health', '--nope']], [['verify', 'all']], [['key', 'create']]])(
  'wrong arguments have exit code 2, as those of every command: %j',
  async (argv) => {
    const { code, stderr } = await place.run(argv);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^paddock: [^\n]+\n$/)]);
  },
);

describe('a refused start', () => {
  it('for a wrong value names file, key, value and the allowed values', async () => {
    const config = place.config('logging: {level: loud}');
    expect(refusal(await place.run(['-config', config]))).toBe(
      'paddock: server.yaml: logging.level: value "loud" is not allowed: one of debug, info, warn, error\n',
    );
    expect(readdirSync(place.folder)).toEqual(['server.yaml']);
  });

  it('for SERVICE_CONFIG with the name of a missing file names it', async () => {
    expect(refusal(await place.run([], { SERVICE_CONFIG: 'no.yaml' }))).toContain('no.yaml: the configuration file');
  });

  it('removes the mounts, cgroups and directories that it created', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const argv = ['-config', place.config(), '-http-addr', `127.0.0.1:${(taken.address() as { port: number }).port}`];
    refusal(await place.run(argv));
    taken.close();
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
    for (const path of mountPoints(join(place.folder, 'state/mount_path'))) {
      expect(mounts).not.toContain(path);
      if (path.startsWith('/run/')) expect(existsSync(path)).toBe(false);
    }
    expect(readdirSync(join(place.folder, 'state/mount_path/run'))).toEqual([]);
  });

  it.each(['http', 'grpc'])('names a %s port that is in use', async (protocol) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const argv = ['-config', place.config(MOCK), `-${protocol}-addr`, `127.0.0.1:${port}`];
    expect(refusal(await place.run(argv))).toContain(
      `server.${protocol}_addr: 127.0.0.1:${port} cannot be listened on`,
    );
    taken.close();
  });

  it('for a missing bwrap names it, without falling back to another runtime', async () => {
    const config = place.config('runtime: {type: bwrap, bwrap_path: /nowhere/bwrap}');
    expect(refusal(await place.run(['-config', config]))).toContain('/nowhere/bwrap');
  });

  it('for an unreachable docker daemon names it', async () => {
    const config = place.config('runtime: {type: docker, docker: {host: "unix:///nowhere/docker.sock"}}');
    expect(refusal(await place.run(['-config', config]))).toContain('docker');
  });

  it.each(['codebase_path', 'mount_path', 'db_path'])('for a %s of another file type names it', async (key) => {
    const config = place.config(MOCK);
    mkdirSync(join(place.folder, 'state'));
    if (key === 'db_path') mkdirSync(join(place.folder, 'state/db_path'));
    else place.write(`state/${key}`, 'a file');
    expect(refusal(await place.run(['-config', config]))).toContain(`storage.${key}`);
  });

  it.each([
    ['', 'is empty'],
    ['\0\0\0\0', 'is not whole JSON'],
    ['{"version":1,"state":{"codebases":[', 'is not whole JSON'],
    ['{"version":9}', 'has version 9'],
  ])('for damaged metadata (%j) names the file and does not change it', async (content, why) => {
    const config = place.config(MOCK);
    mkdirSync(join(place.folder, 'state'));
    place.write('state/db_path', content);
    const db = join(place.folder, 'state/db_path');
    expect(refusal(await place.run(['-config', config]))).toContain(`storage.db_path: ${db} ${why}`);
    expect(readFileSync(db, 'utf8')).toBe(content);
  });
});
