import { ServiceError } from '../errors.ts';
import type { ExecRequest } from '../messages.ts';
import type { Command } from '../runtime/runtime.ts';

const MAX_WORKDIR = 4096;
/** What one environment variable or argument may have on Linux (MAX_ARG_STRLEN), with its end and `name=`. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const MAX_ENV_BYTES = 1024 * 1024;

/** The command a request asks for; throws INVALID_ARGUMENT naming the first field that is not right. */
export function checkExec(
  request: ExecRequest,
  timeouts: { defaultTimeout: number; maxTimeout: number },
  signal: AbortSignal,
): Command {
  if (request.command === '') throw invalid('command: is required');
  if (request.command.includes('\0')) throw invalid('command: must have no NUL');
  if (Buffer.byteLength(request.command) > MAX_ARGUMENT_BYTES) {
    throw invalid(`command: at most ${MAX_ARGUMENT_BYTES} bytes; put a longer script in a file or in stdin`);
  }
  if (request.workdir.includes('\0')) throw invalid('workdir: must have no NUL');
  if (Buffer.byteLength(request.workdir) > MAX_WORKDIR) throw invalid(`workdir: at most ${MAX_WORKDIR} bytes`);
  checkEnv(request.env);
  const { command, stdin, env, workdir } = request;
  return { command, stdin, env, workdir, timeoutMs: timeoutOf(request.timeout, timeouts), signal };
}

function checkEnv(env: Readonly<Record<string, string>>): void {
  let total = 0;
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || /[=\0]/.test(name)) throw invalid('env: a name must not be empty nor have = or NUL in it');
    const shown = JSON.stringify(name.slice(0, 100));
    if (value.includes('\0')) throw invalid(`env[${shown}]: must have no NUL`);
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (bytes > MAX_ARGUMENT_BYTES) throw invalid(`env[${shown}]: at most ${MAX_ARGUMENT_BYTES} bytes with its name`);
    total += bytes;
  }
  if (total > MAX_ENV_BYTES) throw invalid(`env: at most ${MAX_ENV_BYTES} bytes in all, not ${total}`);
}

function timeoutOf(
  seconds: number,
  { defaultTimeout, maxTimeout }: { defaultTimeout: number; maxTimeout: number },
): number {
  if (!Number.isSafeInteger(seconds) || seconds < 0) {
    throw invalid('timeout: must be a whole number of seconds, 0 for the default');
  }
  if (seconds * 1000 > maxTimeout) {
    throw invalid(`timeout: at most ${maxTimeout / 1000} seconds (runtime.max_timeout), not ${seconds}`);
  }
  return seconds === 0 ? defaultTimeout : seconds * 1000;
}

function invalid(message: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', message);
}
