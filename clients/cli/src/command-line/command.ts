import type { Paddock, Sandbox } from 'paddock-sandbox';
import type { Output } from '../output/output.ts';
import type { Connection } from '../server/connection.ts';
import type { Signals } from './signals.ts';

/** An option. With neither `value` nor `oneOf` it is a flag. */
export interface Option {
  short?: string;
  /** May be given several times. */
  multiple?: boolean;
  /** What the value is, in capitals: for the help, and for completion. */
  value?: string;
  /** All values that it may have. */
  oneOf?: readonly string[];
  /** Turns the given text into the value. Throws UsageError. */
  read?(option: string, text: string): unknown;
  help: string;
}

export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends { oneOf: readonly (infer T)[] }
  ? T
  : O extends { read(option: string, text: string): infer T }
    ? T
    : O extends { multiple: true }
      ? readonly string[]
      : O extends { value: string }
        ? string
        : boolean;

/** The values of the options that were given. */
export type Values<O extends Options> = { readonly [K in keyof O]?: ValueOf<O[K]> | undefined };

/** What is not an option, in order. Only the last one may be `some` (at least one) or `any`. */
export interface Operand {
  /** As of an option. */
  value: string;
  oneOf?: readonly string[] | undefined;
  count: 'one' | 'optional' | 'some' | 'any';
}

export type Operands = Readonly<Record<string, Operand>>;

export const one = (value: string) => ({ value, count: 'one' }) as const;
export const optional = (value: string) => ({ value, count: 'optional' }) as const;
export const some = (value: string) => ({ value, count: 'some' }) as const;
export const any = (value: string) => ({ value, count: 'any' }) as const;

interface Counted {
  one: string;
  optional: string | undefined;
  some: readonly string[];
  any: readonly string[];
}

export interface Input<O extends Options, P extends Operands> {
  readonly values: Values<O>;
  readonly operands: { readonly [K in keyof P]: Counted[P[K]['count']] };
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
  /** Options of a call that ends with the signal. */
  readonly call: { readonly signal: AbortSignal };
  /** What names the server, without asking it. */
  connection(): Connection;
  /** The server. `start`: a local one is started if none is configured and none runs. */
  paddock(options?: { start: boolean }): Promise<Paddock>;
  /** The sandbox that an operand names. */
  sandbox(given: string): Promise<Sandbox>;
}

/** A command of the command line: help, usage, parsing and completion follow from it. */
export interface Command<O extends Options = Options, P extends Operands = Operands> {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Further text of the help. */
  readonly details?: string;
  readonly operands: P;
  readonly options: O;
  readonly examples: readonly string[];
  /** The command runs another one, which follows the operands, with or without "--": its options are not parsed. */
  readonly runs?: boolean;
  /** Returns the exit code; nothing: 0. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most commands have no exit code of their own.
  run(context: Context, input: Input<O, P>): Promise<number | void>;
}

/** As it is typed; may be of two words: "key create". */
export type Named = Command & { readonly name: string };

/** Checks the types of a command: `context` and `input` of `run` need none. */
export function command<const O extends Options, const P extends Operands>(definition: Command<O, P>): Command {
  return definition as unknown as Command;
}
