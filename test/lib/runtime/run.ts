import type { ResourceLimits } from '../../../lib/contract/messages.ts';
import { ServiceError } from '../../../lib/errors.ts';
import type { Command, Execution, RunningSandbox } from '../../../lib/runtime/runtime.ts';

export const RESOURCES: ResourceLimits = { memory_bytes: 0, cpu_quota: 0, cpu_shares: 0, pids_limit: 0 };

export function command(text: string, more: Partial<Command> = {}): Command {
  const signal = new AbortController().signal;
  return { command: text, stdin: '', env: {}, workdir: '', timeoutMs: 20_000, signal, ...more };
}

export interface Result {
  stdout: string;
  stderr: string;
  exitCode?: number;
  durationMs?: number;
  outOfMemory?: true;
  /** Code and message of the ServiceError that ended the command, if any. */
  code?: string;
  message?: string;
}

/** Runs a command until it ends. With `bytes` the output is decoded as latin1, so that every byte can be compared. */
export async function run(
  sandbox: RunningSandbox,
  text: string,
  more: Partial<Command> = {},
  encoding: BufferEncoding = 'utf8',
): Promise<Result> {
  return finish(sandbox.exec(command(text, more)), encoding);
}

/** Reads the events of a command until it ends. */
export async function finish(
  started: Execution | Promise<Execution>,
  encoding: BufferEncoding = 'utf8',
): Promise<Result> {
  const output: Record<'STDOUT' | 'STDERR', Buffer[]> = { STDOUT: [], STDERR: [] };
  const result: Omit<Result, 'stdout' | 'stderr'> = {};
  try {
    for await (const event of await started) {
      if (event.kind === 'output') output[event.stream].push(event.data);
      else {
        const { exitCode, durationMs, outOfMemory } = event;
        Object.assign(result, { exitCode, durationMs, ...(outOfMemory && { outOfMemory }) });
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    Object.assign(result, { code: error.code, message: error.message });
  }
  const decode = (parts: Buffer[]) => Buffer.concat(parts).toString(encoding);
  return { stdout: decode(output.STDOUT), stderr: decode(output.STDERR), ...result };
}

/** Runs so many commands at once, each of which waits for the others: as many shells are idle then. */
export async function withIdleShells(sandbox: RunningSandbox, count: number): Promise<void> {
  const wait = (index: number) =>
    `touch /tmp/at-once-${index}; until [ -e /tmp/at-once-${count - 1} ] && set -- /tmp/at-once-* && [ $# = ${count} ]; do sleep 0.02; done`;
  const all = await Promise.all(Array.from({ length: count }, (_, index) => run(sandbox, wait(index))));
  if (all.some(({ exitCode }) => exitCode !== 0))
    throw new Error(`not ${count} commands at once: ${JSON.stringify(all)}`);
}
