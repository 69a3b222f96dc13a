import { setTimeout as delay } from 'node:timers/promises';
import type { ListeningPort, WaitPortRequest, WaitPortResponse } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { innerPid } from '../../linux/inner-pid.ts';
import type { SandboxContext } from '../context.ts';
import { runnable } from '../exec/exec.ts';

/** Milliseconds between two looks at the ports while a call waits. */
const LOOK_MS = 50;
/** Processes of one command whose pids are compared. */
const MOST_PIDS = 512;

/** See `Processes.waitPort`. */
export async function waitPort(
  { sandbox_id, port, wait }: WaitPortRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<WaitPortResponse> {
  const until = context.clock.monotonic() + wait;
  for (;;) {
    const { running, refuse } = await lookable(sandbox_id, signal, context);
    if (!running) throw refuse();
    const found = await running.ports(port === 0 ? undefined : port);
    const left = until - context.clock.monotonic();
    if (found.length > 0 || left <= 0) {
      const ports = await withProcesses(sandbox_id, found, context);
      return { listening: ports.length > 0, ports };
    }
    await delay(Math.min(LOOK_MS, left), undefined, { signal }).catch(() => {
      throw new ServiceError('CANCELLED', 'the client disconnected');
    });
  }
}

async function lookable(id: string, signal: AbortSignal, context: SandboxContext) {
  const sandbox = await runnable(id, signal, context);
  return { running: sandbox.running, refuse: () => sandbox.refuse() };
}

/** Adds the processes of the sandbox that the ports belong to. */
async function withProcesses(
  sandboxId: string,
  ports: readonly Omit<ListeningPort, 'process_id'>[],
  context: SandboxContext,
): Promise<ListeningPort[]> {
  const wanted = new Set(ports.map(({ pid }) => pid));
  const owners = new Map<number, string>();
  if (ports.length > 0) {
    for (const process of (await context.processes.of(sandboxId)).all) {
      for (const pid of (await process.pids()).slice(0, MOST_PIDS)) {
        const inner = innerPid(pid);
        if (inner !== undefined && wanted.has(inner)) owners.set(inner, process.id);
      }
    }
  }
  return ports.map((each) => ({ ...each, process_id: owners.get(each.pid) ?? '' }));
}
