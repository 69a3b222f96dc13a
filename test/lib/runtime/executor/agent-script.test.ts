import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { agentScript } from '../../../../lib/runtime/executor/agent-script.ts';
import { convenience } from '../../../../lib/runtime/executor/convenience.ts';
import { AGENT_DIR } from '../../../../lib/runtime/executor/places.ts';
import { shells } from './shells.ts';

const base = mkdtempSync('/tmp/paddock-agent-');
afterAll(() => rmSync(base, { recursive: true, force: true }));

it.each(shells)('no program that a sandbox put into PATH starts a runner, with %s as /bin/sh', async (shell) => {
  const dir = mkdtempSync(join(base, 'a-'));
  const [own, planted, started] = ['bin', 'planted', 'started'].map((name) => join(dir, name));
  mkdirSync(own!);
  writeFileSync(join(own!, 'setsid'), `#!/bin/sh\necho >${planted}\nexec "$@"\n`, { mode: 0o755 });
  writeFileSync(join(dir, 'ctl'), 'abc\n');
  // The session of the runner is its own.
  const report = `read -r _ _ _ _ _ session _ </proc/$$/stat; [ $session = $$ ] && : >${started}`;
  writeFileSync(join(dir, 'abc.req'), `${report}\n`);
  const script = agentScript({ resetSignals: [], hasNetwork: true }).replaceAll(AGENT_DIR, dir);
  const name = shell.endsWith('busybox') ? ['sh'] : [];
  execFileSync(shell, [...name, '-c', script], { env: { PATH: `${own}:/usr/bin:/bin` } });
  await expect.poll(() => existsSync(started!), { timeout: 30_000 }).toBe(true);
  expect(existsSync(planted!)).toBe(false);
});

it.each(shells)('a runner has its own session, no ignored signal and no input, by setsid and %s', async (shell) => {
  const dir = mkdtempSync(join(base, 'f-'));
  const told = join(dir, 'told');
  writeFileSync(join(dir, 'ctl'), 'abc\n');
  writeFileSync(
    join(dir, 'abc.req'),
    `read -r _ _ _ _ _ session _ </proc/$$/stat
[ $session = $$ ] && while read -r name set; do case $name in SigIgn:) echo $set >${told}.new; esac; done </proc/$$/status
readlink /proc/$$/fd/0 >>${told}.new
mv ${told}.new ${told}\n`,
  );
  const script = agentScript({ resetSignals: [], hasNetwork: true, forks: true }).replaceAll(AGENT_DIR, dir);
  const name = shell.endsWith('busybox') ? ['sh'] : [];
  execFileSync(shell, [...name, '-c', script], { env: { PATH: '/usr/bin:/bin' } });
  await expect.poll(() => existsSync(told), { timeout: 30_000 }).toBe(true);
  expect(readFileSync(told, 'latin1')).toBe('0000000000000000\n/dev/null\n');
});

function startAgent(shell: string): { dir: string; start: () => Promise<unknown[]> } {
  const dir = mkdtempSync(join(base, 'u-'));
  for (const name of ['ctl', 'up']) execFileSync('mkfifo', [join(dir, name)]);
  const script = agentScript({ resetSignals: [], hasNetwork: true, answers: true }).replaceAll(AGENT_DIR, dir);
  const name = shell.endsWith('busybox') ? ['sh'] : [];
  const options = { env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' as const };
  return { dir, start: () => once(spawn(shell, [...name, '-c', script], options), 'exit') };
}

it.each(shells)('with %s it answers while its server has its requests open, and then ends', async (shell) => {
  const { dir, start } = startAgent(shell);
  const answer = openSync(join(dir, 'up'), constants.O_RDONLY | constants.O_NONBLOCK);
  const control = await open(join(dir, 'ctl'), 'r+');
  const read = () => readSync(answer, Buffer.alloc(8));
  expect(read()).toBe(0);
  const ended = start();
  await expect.poll(read, { timeout: 30_000 }).toBe(3);
  closeSync(answer);
  await control.close();
  expect((await ended)[0]).toBe(0);
});

it.each(shells)('with %s it ends if its server has ended before it opens its requests', async (shell) => {
  const { dir, start } = startAgent(shell);
  const answer = await open(join(dir, 'up'), 'r+');
  expect((await start())[0]).toBe(0);
  await answer.close();
});

it.each(shells)('a runner that %s and setsid cannot start is reported, and the next one is started', async (shell) => {
  const dir = mkdtempSync(join(base, 'n-'));
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  // setsid(1) ends like this where fork(2) fails.
  writeFileSync(
    join(bin, 'setsid'),
    `#!/bin/sh\n[ -e ${dir}/room ] || { >${dir}/room; exit 1; }\nexec /usr/bin/setsid "$@"\n`,
    {
      mode: 0o755,
    },
  );
  writeFileSync(join(dir, 'ctl'), 'abc\ndef\n');
  for (const name of ['abc', 'def']) writeFileSync(join(dir, `${name}.req`), `>${dir}/${name}.started\n`);
  for (const name of ['abc', 'def']) execFileSync('mkfifo', [join(dir, `${name}.sts`)]);
  const status = openSync(join(dir, 'abc.sts'), constants.O_RDONLY | constants.O_NONBLOCK);
  const script = agentScript({ resetSignals: [], hasNetwork: true, forks: true })
    .replaceAll(AGENT_DIR, dir)
    .replaceAll('/usr/bin/setsid', join(bin, 'setsid'));
  const name = shell.endsWith('busybox') ? ['sh'] : [];
  execFileSync(shell, [...name, '-c', script], { env: { PATH: '/usr/bin:/bin' } });
  await expect.poll(() => existsSync(join(dir, 'def.started')), { timeout: 30_000 }).toBe(true);
  expect([readFileSync(status, 'latin1'), existsSync(join(dir, 'abc.started'))]).toEqual(['abc f 0\n', false]);
  closeSync(status);
});

it.each([
  ['with apt-get', true],
  ['without apt-get', false],
])('the commands of an image %s find what belongs to it, and sudo', (_, hasApt) => {
  const dir = mkdtempSync(join(base, 'p-'));
  for (const [place, name] of [
    ['system', 'true'],
    ...(hasApt ? [['system', 'apt-get']] : []),
    ['bin', 'sudo'],
    ['apt', 'apt-get'],
    ['apt', 'apt'],
  ]) {
    mkdirSync(join(dir, place!), { recursive: true });
    writeFileSync(join(dir, place!, name!), '#!/bin/sh\n', { mode: 0o755 });
  }
  const look = 'for p in sudo apt apt-get npm; do command -v $p; done; :';
  const script = [...convenience(true), look].join('\n').replaceAll(AGENT_DIR, dir);
  const out = execFileSync('/bin/sh', ['-c', script], { env: { PATH: join(dir, 'system') }, encoding: 'utf8' });
  const found = ['bin/sudo', ...(hasApt ? ['apt/apt', 'apt/apt-get'] : [])];
  expect(out.split('\n').slice(hasApt ? 1 : 0, -1)).toEqual(found.map((name) => join(dir, name)));
});
