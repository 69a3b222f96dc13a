import { expect, it } from 'vitest';
import type { ListeningPort, RunningSandbox } from '../../../../lib/runtime/runtime.ts';
import type { SandboxContext } from '../../../../lib/sandboxes/context.ts';
import { PortLooks } from '../../../../lib/sandboxes/ports/port-looks.ts';
import { waitPort } from '../../../../lib/sandboxes/ports/wait-port.ts';

const PORT: ListeningPort = { port: 8000, address: '0.0.0.0', pid: 7, program: 'web' };

/** A sandbox whose looks end when the test says so. */
function heldSandbox() {
  const looks: { end: (ports: ListeningPort[]) => void; fail: (error: Error) => void }[] = [];
  let wake = () => {};
  const ports = () =>
    new Promise<ListeningPort[]>((end, fail) => {
      looks.push({ end, fail });
      wake();
    });
  const begun = async (count: number) => {
    while (looks.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return looks[count - 1]!;
  };
  return { running: { ports } as unknown as RunningSandbox, looks, begun };
}

it('a thousand calls share one look, and those that come during a look share the next one', async () => {
  const { running, looks, begun } = heldSandbox();
  const table = new PortLooks();
  const calls = (count: number) => Promise.all(Array.from({ length: count }, () => table.at(running)));
  const early = calls(1000);
  const first = await begun(1);
  const late = calls(1000);
  first.end([]);
  expect((await early).every(({ ports }) => ports.length === 0)).toBe(true);
  (await begun(2)).end([PORT]);
  expect((await late).every(({ ports }) => ports[0] === PORT)).toBe(true);
  expect(looks).toHaveLength(2);
});

it('looks at two sandboxes do not overlap', async () => {
  const [one, other] = [heldSandbox(), heldSandbox()];
  const table = new PortLooks();
  const both = [table.at(one.running), table.at(other.running)];
  const first = await begun(one);
  expect(other.looks).toHaveLength(0);
  first.end([]);
  (await begun(other)).end([PORT]);
  expect((await Promise.all(both)).map(({ ports }) => ports.length)).toEqual([0, 1]);
});

it('a look that fails is an error of its callers, and the next one begins', async () => {
  const sandbox = heldSandbox();
  const table = new PortLooks();
  const failed = table.at(sandbox.running);
  (await begun(sandbox)).fail(new Error('ended'));
  await expect(failed).rejects.toThrow('ended');
  const next = table.at(sandbox.running);
  (await sandbox.begun(2)).end([]);
  expect((await next).ports).toEqual([]);
});

it('500 calls for a port examine the processes of the sandbox once', async () => {
  let [looks, examined] = [0, 0];
  const running = {
    ports: async () => {
      looks++;
      return [{ ...PORT, pid: 1 }];
    },
  };
  const process = {
    id: 'web',
    pids: async () => {
      examined++;
      return [];
    },
  };
  const sandbox = { status: 'SANDBOX_RUNNING', running, record: { expires_at: 0 }, queue: { idle: true } };
  const context = {
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    find: () => sandbox,
    settled: async () => {},
    refuseWhenClosing: () => {},
    ports: new PortLooks(),
    processes: { of: async () => ({ all: [process] }) },
  } as unknown as SandboxContext;
  const request = { sandbox_id: 'sb_1', port: 8000, wait: 5000, listening: false };
  const { signal } = new AbortController();
  const answers = await Promise.all(Array.from({ length: 500 }, () => waitPort(request, signal, context)));
  expect(answers.every(({ ports }) => ports.length === 1)).toBe(true);
  expect({ looks, examined }).toEqual({ looks: 1, examined: 1 });
});

const begun = ({ begun }: ReturnType<typeof heldSandbox>) => begun(1);
