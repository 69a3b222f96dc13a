import type { Duration } from '../duration.ts';
import type { CallOptions } from '../http/call.ts';

/** A shell command, or a program with its arguments, which no shell interprets. */
export type Command = string | readonly string[];

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
