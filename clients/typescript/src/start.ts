import type { Api } from './api.ts';
import { type Command, commandFields } from './commands/options.ts';
import { type Duration, wholeSecondsOf } from './duration.ts';
import { randomId } from './http/transport.ts';
import { Process } from './process.ts';

export interface StartOptions {
  /** Id of the process, unique in the sandbox; otherwise a random one. */
  id?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  workdir?: string | undefined;
  shell?: string | undefined;
  /** Keep standard input open for `write`. */
  stdin?: boolean | undefined;
  /** Give it a terminal of this size. */
  terminal?: { columns: number; rows: number } | undefined;
  /** Time until the process is killed; absent: never. */
  timeout?: Duration | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  signal?: AbortSignal | undefined;
}

/** An id of the caller makes the call repeatable: the same request starts nothing twice. */
export async function startProcess(
  api: Api,
  sandboxId: string,
  command: Command,
  options: StartOptions,
): Promise<Process> {
  const { id = `p-${randomId().slice(0, 12)}`, signal, timeout, ...fields } = options;
  const seconds = wholeSecondsOf('timeout', timeout);
  const request = { ...fields, ...commandFields(command), sandboxId, processId: id, timeout: seconds };
  await api.startProcess(request, { signal, repeatable: true });
  return new Process(api, sandboxId, id);
}
