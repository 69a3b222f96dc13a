import { parseArgs } from 'node:util';
import { hint } from './closest.ts';
import type { Input, Named, Operands, Option, Options, Values } from './command.ts';
import { UsageError } from './errors.ts';

/** Options of every command. */
export const GLOBAL = {
  url: { value: 'URL', help: 'the server (default: $PADDOCK_URL, the configuration, the local one)' },
  json: { help: 'print the result as JSON' },
  help: { short: 'h', help: 'print this text' },
} as const satisfies Options;

export type Globals = Values<typeof GLOBAL>;

type Config = NonNullable<Parameters<typeof parseArgs>[0]>['options'];

export const takesValue = ({ value, oneOf }: Option): boolean => value !== undefined || oneOf !== undefined;

const configOf = (options: Options): Config =>
  Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      const { short, multiple } = option;
      const type = takesValue(option) ? 'string' : 'boolean';
      return [name, { type, ...(short && { short }), ...(multiple && { multiple }) }];
    }),
  ) as Config;

/** The parts of arguments, also of wrong ones. */
export const tokensOf = (args: readonly string[], options: Options) =>
  parseArgs({ args: [...args], options: configOf(options), strict: false, allowPositionals: true, tokens: true })
    .tokens;

/** Divides arguments into options, operands and the command to run. Throws UsageError. */
export function parse(command: Named, args: readonly string[]): Input<Options, Operands> & { globals: Globals } {
  const options: Options = { ...command.options, ...GLOBAL };
  const { own, rest } = command.runs ? divide(args, options, most(command)) : { own: args, rest: [] };
  const { values, positionals } = strictly(own, options);
  const read = Object.entries(values).map(([name, value]) => [name, readValue(name, options[name]!, value)]);
  const { url, json, help, ...others } = Object.fromEntries(read);
  const operands = help ? {} : operandsOf(command, positionals);
  return {
    values: others,
    operands: operands as Input<Options, Operands>['operands'],
    rest,
    globals: { url, json, help },
  };
}

const isMany = (command: Named): boolean =>
  Object.values(command.operands).some(({ count }) => count === 'some' || count === 'any');

const most = (command: Named): number =>
  isMany(command) ? Number.POSITIVE_INFINITY : Object.keys(command.operands).length;

/**
 * The command to run begins after "--", or is the first argument after the operands: it may have options of the same
 * names.
 */
function divide(args: readonly string[], options: Options, operands: number): { own: string[]; rest: string[] } {
  let seen = 0;
  for (const token of tokensOf(args, options)) {
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

function readValue(name: string, { oneOf, read }: Option, value: unknown): unknown {
  if (oneOf !== undefined) requireOneOf(`--${name}`, oneOf, value as string);
  return read === undefined ? value : read(name, value as string);
}

/** More values than a sentence lists. */
const MANY = 30;

/** "must be a, b or c" */
function requireOneOf(what: string, allowed: readonly string[], given: string): void {
  if (allowed.includes(given)) return;
  const text = JSON.stringify(given);
  if (allowed.length > MANY) throw new UsageError(`${text} is no ${what}${hint(given, allowed)}`);
  throw new UsageError(`${what} is ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}, not ${text}`);
}

function operandsOf(command: Named, given: readonly string[]): Record<string, unknown> {
  const declared = Object.entries(command.operands);
  const least = declared.filter(([, { count }]) => count === 'one' || count === 'some').length;
  if (given.length < least) throw new UsageError(`${command.name} needs ${usageOf(command)}`);
  if (given.length > most(command))
    throw new UsageError(`${command.name}: unexpected argument ${JSON.stringify(given[declared.length])}`);
  return Object.fromEntries(
    declared.map(([name, { count, value, oneOf }], at) => {
      if (oneOf !== undefined) requireOneOf(value, oneOf, given[at]!);
      return [name, count === 'some' || count === 'any' ? given.slice(at) : given[at]];
    }),
  );
}

const SHOWN = { one: '@', optional: '[@]', some: '@...', any: '[@...]' } as const;

/** The operands as in the help: "SANDBOX [PATH...]". */
export const usageOf = ({ operands, runs }: Pick<Named, 'operands' | 'runs'>): string =>
  [
    ...Object.values(operands).map(({ value, count }) => SHOWN[count].replace('@', value)),
    ...(runs ? ['[--] COMMAND [ARG...]'] : []),
  ].join(' ');
