import type { Paddock } from '../../typescript/src/paddock.ts';
import type { Connection } from './connection.ts';
import type { Output } from './output.ts';
import type { Signals } from './signals.ts';

export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  /** May be given several times. */
  multiple?: boolean;
  /** Placeholder of its value in the help. */
  value?: string;
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of the options that were given. */
export type Values<O extends Options> = {
  readonly [K in keyof O]?:
    | (O[K]['type'] extends 'boolean' ? boolean : O[K]['multiple'] extends true ? readonly string[] : string)
    | undefined;
};

export interface Input<O extends Options> {
  readonly values: Values<O>;
  /** What is not an option. */
  readonly operands: readonly string[];
  /** What follows the operands of a command with `runs`, its options included. */
  readonly rest: readonly string[];
}

/** What a command gets: where it writes, its server, and the end that a signal asks for. */
export interface Context {
  readonly out: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signals: Signals;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP: pass it to each call. */
  readonly signal: AbortSignal;
  /** All commands, for lists of them. */
  commands(): Promise<readonly Command[]>;
  /** What names the server, without asking it. */
  connection(): Connection;
  /** The server. `start`: a local one is started if none is configured and none runs. */
  paddock(options?: { start: boolean }): Promise<Paddock>;
}

/** A command of the command line. Its default export is loaded when it is used. */
export interface Command<O extends Options = Options> {
  /** As it is typed; may be of two words: "key create". */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Arguments as in the help, without the name and the options: "SANDBOX [PATH...]". */
  readonly usage: string;
  /** Further text of the help. */
  readonly details?: string;
  readonly options: O;
  readonly examples: readonly string[];
  /** Numbers of operands, at least and at most. */
  readonly operands: readonly [least: number, most: number];
  /** The command runs another one, which follows the operands, with or without "--": its options are not parsed. */
  readonly runs?: boolean;
  /** Returns the exit code; nothing: 0. */
  run(context: Context, input: Input<O>): Promise<number | undefined>;
}

/** Checks the types of a command: `context` and `input` of `run` need none. */
export function command<const O extends Options>(definition: Command<O>): Command {
  return definition as unknown as Command;
}
