import { setTimeout as delay } from 'node:timers/promises';
import type { ExecRequest, ProcessEnd } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { KeptOutput, NewProcess, YieldedExec } from '../../process-services.ts';
import type { SandboxContext } from '../context.ts';
import { timeoutOf } from '../exec/timeout.ts';
import type { LiveProcess } from './live-process.ts';
import { processesOf } from './read-output.ts';
import { runAsProcess } from './start-process.ts';

const READ_BYTES = 262_144;

/**
 * See `Processes.execOrYield`. The threats: a process that nobody knows of, so it is deleted if the caller leaves before
 * it is named in an answer; and other starts, for which it must not make room before its output was read.
 */
export async function execOrYield(
  request: ExecRequest,
  signal: AbortSignal,
  keep: () => () => void,
  take: (output: KeptOutput) => void,
  context: SandboxContext,
): Promise<YieldedExec> {
  const { sandbox_id, command, argv, shell, env, workdir, timeout, stdin, stdin_bytes, merge, yield_after } = request;
  const timeoutMs = timeoutOf(request, context.settings);
  const start: NewProcess = {
    sandbox_id,
    process_id: '',
    command,
    argv,
    shell,
    env,
    workdir,
    stdin: false,
    terminal: undefined,
    timeout,
    labels: {},
    merge,
  };
  const input = stdin_bytes.length > 0 ? stdin_bytes : stdin;
  const process = await runAsProcess({ request: start, stdin: input, timeoutMs, keep }, signal, context);
  process.held = true;
  try {
    const end = await endOf(process, yield_after, signal);
    await passOutput(process, take);
    if (signal.aborted) throw new ServiceError('CANCELLED', 'the command was cancelled');
    if (end !== undefined) await remove(process, sandbox_id, context);
    return { processId: process.id, end };
  } catch (error) {
    await remove(process, sandbox_id, context);
    throw error;
  } finally {
    process.held = false;
  }
}

/** It may have been deleted meanwhile, alone or with its sandbox. */
async function remove(process: LiveProcess, sandboxId: string, context: SandboxContext): Promise<void> {
  try {
    await (await processesOf(sandboxId, context)).remove(process.id);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'NOT_FOUND') throw error;
  }
}

/** Waits for the end of the process, not longer than `milliseconds`. */
async function endOf(process: LiveProcess, milliseconds: number, signal: AbortSignal): Promise<ProcessEnd | undefined> {
  const over = new AbortController();
  const waited = delay(milliseconds, undefined, { signal: AbortSignal.any([signal, over.signal]) });
  await Promise.race([process.ended, waited.catch(() => undefined)]);
  over.abort();
  return process.end;
}

/** Passes on the output so far that is still kept, and then how much of each stream is not. */
async function passOutput(process: LiveProcess, take: (output: KeptOutput) => void): Promise<void> {
  const { next: last } = process.log.position;
  const missing = { ...process.written };
  for (let at = 0; at < last; ) {
    const { pieces, next } = await process.log.read(at, Math.min(READ_BYTES, last - at));
    for (const { stream: name, offset, data } of pieces) {
      // After a gap, a piece may be later output.
      if (offset >= last) continue;
      const stream = name === 'stderr' ? 'STDERR' : 'STDOUT';
      const kept = data.subarray(0, last - offset);
      missing[stream] -= kept.length;
      take({ stream, data: kept, missing: 0 });
    }
    if (next === at) break;
    at = next;
  }
  take({ stream: 'STDOUT', missing: missing.STDOUT });
  take({ stream: 'STDERR', missing: missing.STDERR });
}
