import { expect, it } from 'vitest';
import { eventually, expectRefusal } from '../contract/scene.ts';
import { pidsOf, statusOf } from './host.ts';
import { python } from './python.ts';
import { attacks } from './suite.ts';

/** Ways in which a process can escape from the process that started it. */
const ESCAPES: readonly [name: string, command: string][] = [
  ['a daemon in its own session', 'setsid sleep 8201 & wait'],
  ['a double fork', '(setsid sh -c "sleep 8201 & sleep 8201" &) ; sleep 8201'],
  ['ignored signals', `trap '' TERM INT HUP QUIT; sleep 8201 & while :; do sleep 8201; done`],
  ['a stopped process', 'sleep 8201 & kill -STOP $!; sleep 8201'],
  ['a chain of forks', 'f() { sh -c "sleep 8201 & exec sleep 8201" & }; f; f; f; sleep 8201'],
  ['closed descriptors', 'setsid sh -c "exec >&- 2>&- <&-; sleep 8201" & sleep 8201'],
];

/** Moves from process to process faster than any list of processes is read; its parent only waits. */
const HOPPER = `
import time
if os.fork():
    time.sleep(8201)
while True:
    if os.fork(): os._exit(0)
    os.setsid()
`;

attacks('processes', (target) => {
  const left = () => pidsOf(target.state).filter((pid) => ['sleep', 'python3'].includes(statusOf(pid)?.Name ?? ''));

  it.each(ESCAPES)('26: after its timeout no process of a command is left: %s', async (_, command) => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({});
    await scene.output(sandbox, 'sleep 8200 >/dev/null 2>&1 &');
    const call = scene.run(sandbox, command, { timeout: 1 });
    await expectRefusal(call, 'DEADLINE_EXCEEDED');
    await eventually('only what another command left', async () => left().length === 1);
    expect(await scene.output(sandbox, 'cat /proc/[0-9]*/cmdline | tr "\\0" " "')).toContain('sleep 8200');
  });

  it('26: after its timeout no process of an endlessly forking command is left', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({});
    await expectRefusal(python(scene, sandbox, HOPPER, { timeout: 2 }), 'DEADLINE_EXCEEDED');
    await eventually('the end of it', async () => left().length === 0);
    expect(await scene.output(sandbox, 'echo next')).toBe('next\n');
  });

  it('25: a child that keeps stdout open does not delay the answer', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({});
    const answer = await scene.run(sandbox, 'setsid sleep 8203 & (sleep 8203 &); echo done; exit 5', { timeout: 30 });
    expect(answer).toMatchObject({ stdout: 'done\n', exit_code: 5 });
    expect(answer.duration_ms).toBeLessThan(25_000);
    await eventually('both children', async () => left().length === 2);
    await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
    expect(left()).toEqual([]);
  });

  it('25: a child that continues to write to stdout does not delay the answer', async () => {
    const { scene } = target;
    const sandbox = await scene.sandboxOn({});
    const answer = await scene.run(sandbox, 'setsid yes 2>/dev/null & echo done', { timeout: 30 });
    expect(answer.stdout).toContain('done\n');
    expect(answer.exit_code).toBe(0);
    expect(await scene.output(sandbox, 'echo next')).toBe('next\n');
  });

  it('26: a command that writes to the agent’s own pipes ends its own sandbox, and only that', async () => {
    const { scene } = target;
    const [sandbox, other] = [await scene.sandboxOn({ 'a.txt': 'kept' }), await scene.sandboxOn({})];
    // All descriptors of the sandbox's processes that can be opened again.
    const program = `
import glob
for path in glob.glob('/proc/[0-9]*/fd/*'):
    try:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        os.write(fd, b'0 x 0\\nffffffffffffffffffffffffffffffff x 0\\n../../x\\n' * 20)
    except OSError: pass
print('null')`;
    await python(scene, sandbox, program).catch(() => undefined);
    expect(await scene.output(other, 'echo unharmed')).toBe('unharmed\n');
    await eventually('a sandbox that runs again', async () => {
      await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
      return scene.output(sandbox, 'cat a.txt').catch(() => undefined);
    });
    expect(await scene.output(sandbox, 'cat a.txt')).toBe('kept');
  });

  it('26: killing the agent ends that sandbox, with a reason, and StartSandbox starts it again', async () => {
    const { scene } = target;
    const [sandbox, other] = [await scene.sandboxOn({ 'a.txt': 'kept' }), await scene.sandboxOn({})];
    await scene.output(sandbox, 'echo mine >b.txt');
    await scene.run(sandbox, 'kill -9 2; sleep 5').catch(() => undefined);
    const status = async () => {
      const now = await scene.client.call('GetSandbox', { sandbox_id: sandbox.id });
      return now.status === 'SANDBOX_ERROR' ? now : undefined;
    };
    await eventually('SANDBOX_ERROR', status);
    await expectRefusal(scene.run(sandbox, 'true'), 'FAILED_PRECONDITION', 'is in error');
    expect(await scene.output(other, 'echo unharmed')).toBe('unharmed\n');
    await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
    expect(await scene.output(sandbox, 'cat a.txt b.txt')).toBe('keptmine\n');
  });
});
