import type { Duration } from '../duration.ts';
import { type CallOptions, divided } from '../http/call.ts';

/** A shell command, or a program with its arguments, which no shell interprets. */
export type Command = string | readonly string[];

export const commandFields = (command: Command): { command: string } | { argv: readonly string[] } =>
  typeof command === 'string' ? { command } : { argv: command };

/** Options of the call of a command, whose `timeout` is its own. */
export type CommandCall = Pick<CallOptions, 'signal' | 'maxRetries' | 'headers'>;

/** `signal` kills the command. */
export interface StreamOptions extends CommandCall {
  /** Environment variables, in addition to the sandbox's own. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Working directory; relative to /workspace. */
  workdir?: string | undefined;
  /** Shell that runs a command that is a string. */
  shell?: string | undefined;
  /** Time until the command and what it started are killed. The server has a default and a maximum. */
  timeout?: Duration | undefined;
  /** Standard input. */
  stdin?: string | Uint8Array | undefined;
  /** Both streams as one, in the order in which they were written. */
  merge?: boolean | undefined;
}

export interface RunOptions extends StreamOptions {
  /** Called with the output as it is written. No character is divided. */
  onStdout?: ((text: string) => void) | undefined;
  onStderr?: ((text: string) => void) | undefined;
  /** Bytes of output to keep: the beginning and the end. */
  maxOutput?: number | undefined;
  /** Throw CommandError if the exit code is not 0. */
  check?: boolean | undefined;
}

/** The fields of the request of a command, and the options of its call. */
export function requestOf(
  command: Command,
  { timeout, stdin, ...options }: StreamOptions,
): [Record<string, unknown>, CallOptions] {
  const [fields, call] = divided<CallOptions>(options);
  const input = typeof stdin === 'string' ? { stdin } : { stdinBytes: stdin };
  return [{ ...fields, ...commandFields(command), timeout, ...input }, call];
}
