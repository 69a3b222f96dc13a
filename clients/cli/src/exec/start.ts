import {
  AlreadyExistsError,
  type Command,
  InvalidArgumentError,
  NotFoundError,
  type Paddock,
  Process,
  type StartOptions,
} from 'paddock-sandbox';
import { CliError, EXIT } from '../command-line/errors.ts';

const LAST_CALL_MS = 2000;

/** Starts a process. What a signal interrupts is not left running. */
export async function startIn(
  { api }: Paddock,
  sandboxId: string,
  command: Command,
  options: StartOptions,
  { signal }: { signal: AbortSignal },
): Promise<Process> {
  if (options.id !== undefined) await makeRoom(api, sandboxId, options.id, { signal });
  const id = options.id ?? `p-${crypto.randomUUID().replaceAll('-', '').slice(0, 12)}`;
  try {
    return await Process.start(api, sandboxId, command, { ...options, id, signal });
  } catch (error) {
    if (signal.aborted && options.id === undefined) {
      const last = { signal: AbortSignal.timeout(LAST_CALL_MS) };
      await api.deleteProcess({ sandboxId, processId: id }, last).catch(() => undefined);
    }
    // A working directory, a variable or the like: what docker's runtime refuses.
    if (error instanceof InvalidArgumentError) throw new CliError(error.message, { exitCode: EXIT.notExecutable });
    if (error instanceof AlreadyExistsError) {
      throw new CliError(`a process ${JSON.stringify(id)} runs already: choose another --name`);
    }
    throw error;
  }
}

/**
 * The same request with the id of a process that was there answers as if it were the first one: nothing would run, and
 * the result be an old one. A process that has ended makes room, one that runs does not.
 */
async function makeRoom(
  api: Paddock['api'],
  sandboxId: string,
  id: string,
  options: { signal: AbortSignal },
): Promise<void> {
  const ids = { sandboxId, processId: id };
  try {
    const { end } = await api.getProcess(ids, options);
    if (end === undefined) throw new CliError(`a process ${JSON.stringify(id)} runs already: choose another --name`);
    await api.deleteProcess(ids, options);
  } catch (error) {
    // Also an id that the server refuses: it tells so at the start.
    if (!(error instanceof NotFoundError || error instanceof InvalidArgumentError)) throw error;
  }
}
