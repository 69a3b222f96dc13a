import type { ExecRequest, ProcessEnd } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { NewProcess, YieldedExec } from '../../process-services.ts';
import type { SandboxContext } from '../context.ts';
import { timeoutOf } from '../exec/timeout.ts';
import type { LiveProcess } from './live-process.ts';
import { processesOf } from './read-output.ts';
import { runAsProcess } from './start-process.ts';

const READ_BYTES = 262_144;

/**
 * See `Processes.execOrYield`. The threat: a process that nobody knows of. So it is deleted if the caller leaves before
 * it is named in an answer.
 */
export async function execOrYield(
  request: ExecRequest,
  signal: AbortSignal,
  keep: () => () => void,
  context: SandboxContext,
): Promise<YieldedExec> {
  const { sandbox_id, command, argv, env, workdir, timeout, stdin, stdin_bytes, yield_after } = request;
  const timeoutMs = timeoutOf(request, context.settings);
  const start: NewProcess = {
    sandbox_id,
    process_id: '',
    command,
    argv,
    env,
    workdir,
    stdin: false,
    terminal: undefined,
    timeout,
    labels: {},
  };
  const input = stdin_bytes.length > 0 ? stdin_bytes : stdin;
  const process = await runAsProcess({ request: start, stdin: input, timeoutMs, keep }, signal, context);
  const remove = async () => (await processesOf(sandbox_id, context)).remove(process.id);
  try {
    await endOf(process, yield_after, signal);
    if (signal.aborted) throw new ServiceError('CANCELLED', 'the command was cancelled');
    return { processId: process.id, end: process.end, output: outputOf(process), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Waits for the end of the process, not longer than `milliseconds`. */
async function endOf(process: LiveProcess, milliseconds: number, signal: AbortSignal): Promise<ProcessEnd | undefined> {
  const over = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const left = new Promise<void>((resolve) => {
    over.addEventListener('abort', () => resolve(), { once: true });
    if (over.aborted) resolve();
  });
  await Promise.race([process.ended, left]);
  return process.end;
}

/** The output that is kept now, in pieces. */
async function* outputOf(process: LiveProcess) {
  const { next: last } = process.log.position;
  for (let at = 0; at < last; ) {
    const { gap, pieces, next } = await process.log.read(at, READ_BYTES);
    yield { gap, pieces };
    if (next === at) return;
    at = next;
  }
}
