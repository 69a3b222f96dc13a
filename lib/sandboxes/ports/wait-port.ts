import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { ListeningPort, WaitPortRequest, WaitPortResponse } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { innerPid } from '../../linux/inner-pid.ts';
import type { ListeningPort as RuntimePort } from '../../runtime/runtime.ts';
import type { SandboxContext } from '../context.ts';
import { runnable } from '../exec/exec.ts';
import { processesOf } from '../processes/read-output.ts';
import type { Look } from './port-looks.ts';

/** Milliseconds between two looks at the ports while a call waits: the first one, and the longest. */
const FIRST_LOOK_MS = 50;
const MAX_LOOK_MS = 250;
/** Milliseconds of one step in which pids are compared. */
const STEP_MS = 2;
/** Processes of one command whose pids are compared. */
const MOST_PIDS = 512;

/** See `Processes.waitPort`. */
export async function waitPort(
  { sandbox_id, port, wait }: WaitPortRequest,
  signal: AbortSignal,
  context: SandboxContext,
): Promise<WaitPortResponse> {
  const until = context.clock.monotonic() + wait;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(2 * pause, MAX_LOOK_MS)) {
    const sandbox = await runnable(sandbox_id, signal, context);
    if (!sandbox.running) throw sandbox.refuse();
    const look = await context.ports.at(sandbox.running);
    const found = look.ports.filter((each) => port === 0 || each.port === port);
    const left = until - context.clock.monotonic();
    if (found.length > 0 || left <= 0) {
      const ports = await withProcesses(sandbox_id, look, found, context);
      return { listening: ports.length > 0, ports };
    }
    await delay(Math.min(pause, left), undefined, { signal }).catch(() => {
      throw new ServiceError('CANCELLED', 'the client disconnected');
    });
  }
}

/** Adds the processes of the sandbox that the ports belong to. */
async function withProcesses(
  sandboxId: string,
  look: Look,
  found: readonly RuntimePort[],
  context: SandboxContext,
): Promise<ListeningPort[]> {
  if (found.length === 0) return [];
  look.owners ??= ownersOf(sandboxId, look.ports, context);
  const owners = await look.owners;
  return found.map((each) => ({ ...each, process_id: owners.get(each.pid) ?? '' }));
}

async function ownersOf(
  sandboxId: string,
  ports: readonly RuntimePort[],
  context: SandboxContext,
): Promise<ReadonlyMap<number, string>> {
  const wanted = new Set(ports.map(({ pid }) => pid));
  const owners = new Map<number, string>();
  let began = performance.now();
  for (const process of (await processesOf(sandboxId, context)).all) {
    for (const pid of (await process.pids()).slice(0, MOST_PIDS)) {
      const inner = innerPid(pid);
      if (inner !== undefined && wanted.has(inner)) owners.set(inner, process.id);
      if (performance.now() - began < STEP_MS) continue;
      await setImmediate();
      began = performance.now();
    }
  }
  return owners;
}
