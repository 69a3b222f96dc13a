import { parseArgs } from 'node:util';
import { hint } from './closest.ts';
import type { Command, Input, Option, Options, Values } from './command.ts';
import { UsageError } from './errors.ts';

/** Options of every command. */
export const GLOBAL = {
  url: { type: 'string', value: 'URL', help: 'the server (default: $PADDOCK_URL, the configuration, the local one)' },
  json: { type: 'boolean', help: 'the result as JSON' },
  help: { type: 'boolean', short: 'h', help: 'this text' },
} as const satisfies Options;

export interface Globals {
  url?: string | undefined;
  json?: boolean | undefined;
  help?: boolean | undefined;
}

type Config = NonNullable<Parameters<typeof parseArgs>[0]>['options'];

const configOf = (options: Options): Config =>
  Object.fromEntries(
    Object.entries<Option>(options).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  ) as Config;

/** Divides arguments into options, operands and the command to run. Throws UsageError. */
export function parse(command: Command, args: readonly string[]): Input<Options> & { globals: Globals } {
  const options = { ...command.options, ...GLOBAL };
  const { own, rest } = command.runs ? divide(args, options, command.operands[1]) : { own: args, rest: [] };
  const { values, positionals } = strictly(own, options);
  const { url, json, help, ...others } = values as Record<string, string | boolean | string[] | undefined>;
  const globals = { url, json, help } as Globals;
  if (!globals.help) checkOperands(command, positionals);
  return { values: others as Values<Options>, operands: positionals, rest, globals };
}

/**
 * The command to run begins after "--", or is the first argument after the operands: it may have options of the same
 * names.
 */
function divide(args: readonly string[], options: Options, operands: number): { own: string[]; rest: string[] } {
  const { tokens } = parseArgs({
    args: [...args],
    options: configOf(options),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  let seen = 0;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') {
      return { own: args.slice(0, token.index), rest: args.slice(token.index + 1) };
    }
    if (token.kind === 'positional' && ++seen > operands) {
      return { own: args.slice(0, token.index), rest: args.slice(token.index) };
    }
  }
  return { own: [...args], rest: [] };
}

function strictly(args: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...args], options: configOf(options), strict: true, allowPositionals: true });
  } catch (error) {
    // "Unknown option '--x'. To specify a positional argument …": the first sentence.
    const [message] = (error as Error).message.split(/\. |\n/);
    const [, unknown] = /^Unknown option '--(.+)'$/.exec(message!) ?? [];
    const meant = unknown === undefined ? '' : hint(unknown, Object.keys(options), (name) => `--${name}`);
    throw new UsageError(`${message![0]!.toLowerCase()}${message!.slice(1)}${meant}`);
  }
}

function checkOperands({ name, operands: [least, most], usage }: Command, given: readonly string[]): void {
  if (given.length < least) throw new UsageError(`${name} needs ${usage}`);
  if (given.length > most) throw new UsageError(`${name}: unexpected argument ${JSON.stringify(given[most])}`);
}
