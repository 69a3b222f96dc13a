import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Sandbox } from '../../../clients/typescript/src/index.ts';
import { servedOnce } from '../typescript/served.ts';
import { BrokenNetwork } from './broken-network.ts';
import { CLI, runCli } from './run-cli.ts';
import { Tmux, until } from './tmux.ts';

const served = servedOnce();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await served.paddock().sandboxes.create({ preset: 'development', env: { PS1: 'box$ ', HISTFILE: '' } });
});

/** Runs the command line in a terminal; then its exit code, and whether the terminal is as it was. */
function inTerminal(args: string, url = served.url): Tmux {
  const script = `before=$(stty -g); ${CLI} ${args}; code=$?
    [ "$before" = "$(stty -g)" ] && state=same || state=changed; echo "code=$code $state"; sleep 1000`;
  return Tmux.start(script, { PADDOCK_URL: url, PADDOCK_ID: sandbox.id, HOME: '/nonexistent' });
}

it('exec -it has the size of the terminal, passes on ^C and new sizes, and ends with the exit code', async () => {
  const terminal = inTerminal('exec -it $PADDOCK_ID bash --norc');
  await terminal.shows('box$');
  terminal.line('stty size; sleep 1000');
  await terminal.shows('25 90');
  terminal.type('C-c');
  await terminal.shows(/\^C\s+box\$/);
  terminal.resize(70, 20);
  await until(
    () => {
      terminal.line('stty size');
      return terminal.screen().includes('20 70');
    },
    () => terminal.screen(),
  );
  terminal.line('exit 3');
  await terminal.shows('code=3 same');
});

it('leaves a terminal by its keys, and comes back to the same screen', async () => {
  const terminal = inTerminal('exec -it --name kept $PADDOCK_ID sh');
  await terminal.shows('box$');
  terminal.line('x=remembered; echo first; printf "\\033[?1049h"; echo in-alternate');
  // At the start of a line: the command line itself is shown before.
  await terminal.shows(/^in-alternate/m);
  expect(terminal.isAlternate()).toBe(true);
  terminal.type('C-p', 'C-q');
  await terminal.shows('code=0 same');
  expect(terminal.screen()).toContain(`paddock attach ${sandbox.id}/kept`);
  expect(terminal.isAlternate()).toBe(false);
  const again = inTerminal('attach kept');
  await again.shows('in-alternate');
  again.line('echo $x');
  await again.shows(/^remembered/m);
  again.line('exit 4');
  await again.shows('code=4 same');
});

/** The process of a command line with this argument. */
function pidOf(argument: string): number {
  const pids = execFileSync('pgrep', ['-f', `^${CLI} .*${argument}`], { encoding: 'utf8' });
  return Number(pids.trim().split('\n')[0]);
}

const stateOf = async (name: string) => (await sandbox.process(name)).info.end?.reason;

it('sets the terminal back when it is killed, and hangs up the process', async () => {
  const terminal = inTerminal(`exec -it --name hung $PADDOCK_ID sh -c 'printf "\\033[?1049h"; echo ready; sleep 1000'`);
  await terminal.shows('ready');
  process.kill(pidOf('hung'), 'SIGTERM');
  await terminal.shows('code=143 same');
  expect(terminal.isAlternate()).toBe(false);
  await until(
    async () => (await stateOf('hung')) === 'signaled',
    () => 'a process that runs',
  );
});

it('goes on after a lost connection, and leaves when there is none', async () => {
  const proxy = await BrokenNetwork.start(served.url);
  onTestFinished(() => proxy.close());
  const terminal = inTerminal('exec -it --name cut $PADDOCK_ID sh', proxy.url);
  await terminal.shows('box$');
  terminal.line('x=before; echo is set');
  await terminal.shows(/^is set/m);
  proxy.cut({ again: true });
  await terminal.shows('connected again');
  terminal.line('echo $x-after');
  await terminal.shows(/^before-after/m);
  proxy.cut({ again: false });
  await terminal.shows(/trying again, \^C gives up\]\s*$/);
  terminal.type('C-c');
  await terminal.shows('code=125 same');
  expect(terminal.screen()).toContain('the process goes on');
  expect(await stateOf('cut')).toBeUndefined();
  await (await sandbox.process('cut')).delete();
});

it('the one who attaches takes over, and the other one gets its terminal back', async () => {
  const first = inTerminal('exec -it --name shared $PADDOCK_ID sh');
  await first.shows('box$');
  const second = inTerminal('attach shared');
  await second.shows('box$');
  await first.shows('code=125 same');
  expect(first.screen()).toMatch(/^paddock: another caller took over the input/m);
  second.line('exit 6');
  await second.shows('code=6 same');
});

it('without -t, ^C goes to the command, whose exit code it is', async () => {
  const terminal = inTerminal(`exec $PADDOCK_ID sh -c 'trap "echo cleaned up; exit 130" INT; echo ready; sleep 1000'`);
  await terminal.shows('ready');
  terminal.type('C-c');
  await terminal.shows('code=130 same');
  expect(terminal.screen()).toContain('cleaned up');
});

it('top shows sandboxes and processes, and leaves the terminal as it was', async () => {
  await sandbox.start(['sleep', '1000'], { id: 'sleeper' });
  const terminal = inTerminal('top --interval 0.5s');
  await terminal.shows(/sleeper +running .*sleep 1000/);
  expect(terminal.isAlternate()).toBe(true);
  terminal.type('q');
  await terminal.shows('code=0 same');
  expect(terminal.isAlternate()).toBe(false);
  expect((await runCli(['top'], { url: served.url })).stdout.toString()).toMatch(/^SANDBOX.*\nsb_.*\n {2}sleeper /);
  await (await sandbox.process('sleeper')).delete();
});

describe('in a pipe', () => {
  const run = (args: readonly string[], input?: Uint8Array) => runCli(args, { url: served.url, input });

  it('exec passes any bytes through both ways, at the pace of the command', async () => {
    const bytes = randomBytes(3 * 1024 * 1024);
    const { exitCode, stdout, stderr } = await run(['exec', '-i', sandbox.id, 'sh', '-c', 'sleep 0.3; cat'], bytes);
    expect([exitCode, stderr, stdout.equals(bytes)]).toEqual([0, '', true]);
  });

  it.each([
    [['sh', '-c', 'echo out; echo err >&2; exit 7'], 7, 'out\n', 'err\n'],
    [['no-such-program'], 127, '', /no-such-program/],
    [['/etc/passwd'], 126, '', /denied/],
    [['cat'], 0, '', ''],
  ])('exec %j: exit code %i', async (command, exitCode, stdout, stderr) => {
    const found = await run(['exec', sandbox.id, ...command], Buffer.from('not read'));
    expect([found.exitCode, found.stdout.toString()]).toEqual([exitCode, stdout]);
    expect(found.stderr).toMatch(stderr);
  });

  it('exec -t needs a terminal only for input', async () => {
    const refused = await run(['exec', '-it', sandbox.id, 'tty']);
    expect([refused.exitCode, refused.stderr]).toEqual([1, 'paddock: standard input is no terminal: leave out -t\n']);
    const watched = await run(['exec', '-t', sandbox.id, 'tty']);
    expect([watched.exitCode, watched.stdout.toString()]).toEqual([0, expect.stringMatching(/^\/dev\/pts\/\d+\r\n$/)]);
  });

  it('exec -d prints a name, with which logs, ps, kill and port wait work', async () => {
    const script = 'echo one; echo two; echo three >&2; exec python3 -m http.server 7071 >/dev/null 2>&1';
    const started = await run(['exec', '-d', '-l', 'a=b', sandbox.id, 'sh', '-c', script]);
    const name = started.stdout.toString().trim();
    expect(name).toMatch(new RegExp(`^${sandbox.id}/p-`));
    expect((await run(['port', 'wait', sandbox.id, '7071'])).stdout.toString()).toBe('0.0.0.0:7071\n');
    const logs = await run(['logs', '--tail', '2', name]);
    expect([logs.stdout.toString(), logs.stderr]).toEqual(['two\n', 'three\n']);
    expect((await run(['ps', '-q', '-l', 'a=b'])).stdout.toString().trim()).toBe(name);
    expect((await run(['kill', '-s', 'term', name])).exitCode).toBe(0);
    const followed = await run(['logs', '-f', name]);
    expect([followed.exitCode, followed.stdout.toString()]).toEqual([0, 'one\ntwo\n']);
    expect((await run(['port', 'wait', '--timeout', '0s', sandbox.id, '7071'])).exitCode).toBe(1);
  });

  it('a name is that of one process at a time, and each exec runs', async () => {
    const append = ['exec', '--name', 'again', sandbox.id, 'sh', '-c', 'echo x >>runs; wc -l <runs'];
    expect((await run(append)).stdout.toString()).toBe('1\n');
    expect((await run(append)).stdout.toString()).toBe('2\n');
    await run(['exec', '-d', '--name', 'again', sandbox.id, 'sleep', '1000']);
    const refused = await run(append);
    expect([refused.exitCode, refused.stderr]).toEqual([125, expect.stringContaining('"again" runs already')]);
    expect((await run(['kill', `${sandbox.id}/again`])).exitCode).toBe(0);
  });

  it('logs -f goes on at its offset after a lost connection', async () => {
    const proxy = await BrokenNetwork.start(served.url);
    onTestFinished(() => proxy.close());
    const count = 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i; sleep 0.01; done';
    await sandbox.start(['sh', '-c', count], { id: 'counting' });
    // Not before it follows: of the requests before, each is tried three times only.
    let cutting: NodeJS.Timeout | undefined;
    const onOutput = () => {
      cutting ??= setInterval(() => proxy.cut({ again: true }), 300);
    };
    const { stdout } = await runCli(['logs', '-f', `${sandbox.id}/counting`], { url: proxy.url, onOutput });
    clearInterval(cutting);
    expect(stdout.toString().split('\n')).toEqual([...Array.from({ length: 300 }, (_, at) => `line ${at + 1}`), '']);
  });

  it('output that cannot be written is an error', async () => {
    const script = `${CLI} exec ${sandbox.id} echo lost >/dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', script], {
      env: { PATH: process.env.PATH, HOME: '/nonexistent', PADDOCK_URL: served.url },
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([125, expect.stringMatching(/^paddock: the output cannot be written: ENOSPC/)]);
  });

  it('a reader that leaves ends the command, as SIGPIPE would', async () => {
    const script = `${CLI} exec --name endless $PADDOCK_ID yes | head -1; echo "code=$?"; sleep 1000`;
    const terminal = Tmux.start(script, { PADDOCK_URL: served.url, PADDOCK_ID: sandbox.id, HOME: '/nonexistent' });
    await terminal.shows('code=0');
    await until(
      async () => (await stateOf('endless')) === 'signaled',
      () => 'a process that runs',
    );
  });
});
