import { execFile } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const BUNDLE = resolve(import.meta.dirname, '../../dist/paddock.mjs');
const UID = 64_321;
const run = promisify(execFile);

/** Of a user whom only the processes of this test know: her entries are files that are mounted for these alone. */
let directory: string;
const home = () => join(directory, 'home');
const project = () => join(home(), 'project');

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-user-'));
  chmodSync(directory, 0o755);
  for (const [name, entry] of [
    ['passwd', `ann:x:${UID}:${UID}::${home()}:/bin/sh`],
    ['group', `ann:x:${UID}:`],
    ['subuid', 'ann:700000000:65536'],
    ['subgid', 'ann:700000000:65536'],
  ] as const) {
    writeFileSync(join(directory, name), `${readFileSync(`/etc/${name}`, 'utf8').trimEnd()}\n${entry}\n`);
  }
  mkdirSync(project(), { recursive: true });
  writeFileSync(join(project(), 'a'), 'a\n');
  for (const path of [home(), project(), join(project(), 'a')]) chownSync(path, UID, UID);
  chmodSync(home(), 0o700);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs a script as that user. `fuse`: the mode of /dev/fuse, which distributions set to 0666. */
async function asUser(script: string, fuse = '0666') {
  const entries = ['passwd', 'group', 'subuid', 'subgid'];
  const place = [
    ...entries.map((name) => `mount --bind ${directory}/${name} /etc/${name}`),
    `rm -f ${directory}/fuse; mknod ${directory}/fuse c 10 229; chmod ${fuse} ${directory}/fuse`,
    `mount --bind ${directory}/fuse /dev/fuse; cd ${project()}`,
    `exec setpriv --reuid ${UID} --regid ${UID} --clear-groups env -i HOME=${home()} PATH="$PATH" sh -c "$0"`,
  ];
  const paddock = `paddock() { ${process.execPath} ${BUNDLE} "$@"; }\n`;
  return run('unshare', ['--mount', 'sh', '-euc', place.join('\n'), paddock + script]);
}

it('paddock run works for an ordinary user by itself, and applies the changes as hers', async () => {
  const { stdout, stderr } = await asUser(`
    paddock run --from . --apply all -- sh -c 'echo b > b; cat a; id -u'
    paddock server stop`);
  expect(stdout).toBe('a\n1000\nstopped\n');
  expect(stderr).toMatch(/^paddock: no server was configured: started one .*\.local\/state\/paddock-local/m);
  expect([readFileSync(join(project(), 'b'), 'utf8'), statSync(join(project(), 'b')).uid]).toEqual(['b\n', UID]);
});

it('where /dev/fuse does not allow it, run and doctor say the command that gives it', async () => {
  const { stdout } = await asUser(
    '{ paddock run -- true || echo $?; paddock doctor || echo $?; } 2>&1; paddock server status || :',
    '0600',
  );
  expect(stdout).toMatch(
    /^paddock: .*user 64321 cannot start one: .*\/dev\/fuse.* Run: sudo chmod 0666 \/dev\/fuse\./m,
  );
  expect(stdout).toMatch(/^missing +user .*\n +sudo chmod 0666 \/dev\/fuse\n/m);
  expect(stdout).toMatch(/\nno local server runs\n$/);
});
