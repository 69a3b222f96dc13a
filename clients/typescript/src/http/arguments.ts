import { checks } from '../contract/operations.ts';
import { isObject } from '../contract/wire.ts';
import { invalid } from '../invalid.ts';
import type { CallOptions, Row } from './call.ts';
import { type Form, requireForm } from './forms.ts';

type Values = Readonly<Record<string, unknown>>;
export type Forms<K extends string = string> = Readonly<Record<K, Form>>;

type Inner = 'repeatable' | 'whole';
const CALL: Forms<Exclude<keyof CallOptions, Inner>> = {
  signal: 'signal',
  timeout: 'duration',
  maxRetries: 'integer 0',
  idempotencyKey: 'string',
  headers: 'map',
};
/** How methods of this package call: nobody is told of them. */
const INNER: Forms<Inner> = { repeatable: 'boolean', whole: 'boolean' };
const ALL = { ...CALL, ...INNER };

/** Names of the options of a call. Only where it says something is there a key. */
const namesFor = ({ retry }: Row): readonly string[] =>
  Object.keys(CALL).filter((name) => name !== 'idempotencyKey' || retry === 'key');

/** Key of the names of a method's own options, in what it passes on: a refusal names them, too. */
const OWN = Symbol('own options');

/** Divides what a method takes into its own options, whose forms are checked, and those that it passes on. */
export function apart<T extends object, K extends string & keyof T>(
  options: T,
  forms: Forms<K>,
): [Partial<Pick<T, K>>, Omit<T, K>] {
  requireObject(options);
  const own: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) (name in forms ? own : rest)[name] = value;
  for (const [name, form] of Object.entries<Form>(forms)) requireForm(name, own[name], form);
  const names = [...((options as { [OWN]?: string[] })[OWN] ?? []), ...Object.keys(forms)];
  return [own as Partial<Pick<T, K>>, { ...rest, [OWN]: names } as unknown as Omit<T, K>];
}

/** Options of several parts, of which the last says what each is. What is no object is refused: `...` would make none of it. */
export function joined<T extends object>(...parts: readonly (object | undefined)[]): T {
  for (const part of parts) if (part !== undefined) requireObject(part);
  return Object.assign({}, ...parts) as T;
}

/** Those of the options that are of calls in general. */
export const callOptions = (options: object): CallOptions =>
  Object.fromEntries(Object.entries(options).filter(([name]) => name in CALL));

/** Fields that have another name for values of a type. */
const UNITED: Readonly<Record<string, readonly [other: string, is: (value: unknown) => boolean]>> = {
  command: ['argv', Array.isArray],
  stdin: ['stdinBytes', (value) => value instanceof Uint8Array],
};

interface Field {
  readonly form: Form;
  readonly required: boolean;
  /** Another field, with which it need not be given. */
  readonly unless: string | undefined;
}

const known = new Map<string, ReadonlyMap<string, Field>>();

/** "name!": it must not be empty; "name!other": unless there is the other one. */
function fieldsOf(operation: string, { fields }: Row): ReadonlyMap<string, Field> {
  const found = known.get(operation);
  if (found !== undefined) return found;
  const parsed = fields.split(' ').filter(Boolean);
  const made = new Map(
    parsed.map((each) => {
      const [name = '', unless] = each.split('!');
      const form = checks[`${operation}.${name}`] ?? checks[name] ?? 'string';
      return [name, { form, required: unless !== undefined, unless: unless || undefined }];
    }),
  );
  known.set(operation, made);
  return made;
}

/**
 * The request of an operation, and the options of its call. `given` is what the method's own arguments say, `options` are the
 * caller's: they are of the call, or further fields. A typing error is not to be taken for a default, nor may an option
 * replace an argument, so others are refused. Throws InvalidArgumentError, also for a value of another form, before anything is sent.
 */
export function argumentsOf(operation: string, row: Row, given: Values, options: object): [Values, CallOptions] {
  requireObject(options);
  const fields = fieldsOf(operation, row);
  const calls = namesFor(row);
  const request: Record<string, unknown> = { ...given };
  const call: Record<string, unknown> = {};
  const refuse = (name: string) => {
    const own = (options as { [OWN]?: string[] })[OWN] ?? [];
    const further = [...fields.keys()].filter((each) => !(each in given));
    requireKnown(name, [...new Set([...own, ...further, ...calls])], ELSEWHERE[`${operation}.${name}`]);
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined && !fields.has(name)) refuse(name);
  for (const [name, value] of Object.entries(options)) {
    // A time limit that is a field is that of a command.
    if (fields.has(name) && !(name in given)) request[name] = value;
    else if (calls.includes(name) || name in INNER || (name in CALL && value === undefined)) call[name] = value;
    else refuse(name);
  }
  for (const [name, form] of Object.entries(ALL)) requireForm(name, call[name], form);
  for (const [name, field] of fields) requireField(name, field, request);
  for (const [name, [other, is]] of Object.entries(UNITED)) {
    if (fields.has(other) && is(request[name])) Object.assign(request, { [name]: undefined, [other]: request[name] });
  }
  return [request, call];
}

function requireField(name: string, { form, required, unless }: Field, request: Values): void {
  const value = request[name];
  if (!required) requireForm(name, value, form);
  else if (unless === undefined || request[unless] === undefined) requireForm(name, value, `!${form}`);
}

/** Where there is what an option of an operation would be. */
const ELSEWHERE: Readonly<Record<string, string>> = { 'fork.count': 'several sandboxes are forks(count)' };

export function requireKnown(name: string, allowed: readonly string[], elsewhere?: string): void {
  // The characters of a string, in place of options.
  if (/^\d+$/.test(name)) throw invalid('options must be an object');
  const hint = elsewhere === undefined ? '' : `; ${elsewhere}`;
  if (!allowed.includes(name)) throw invalid(`${name} is not a known option; allowed are ${allowed.join(', ')}${hint}`);
}

export function requireObject(options: unknown): void {
  if (!isObject(options)) throw invalid('options must be an object');
}
