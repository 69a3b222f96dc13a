import { isObject, toWire } from '../contract/wire.ts';
import { type Duration, secondsOf } from '../duration.ts';
import { invalid } from '../invalid.ts';

/** What a value must be: a name of `FORMS`, `duration`, `converted`, `integer LOWEST HIGHEST NOTE`, or `one A|B`. "!" before: and not empty. */
export type Form = string;

type Check = readonly [what: string, is: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === 'string';
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isBytes = (value: unknown): boolean => value instanceof Uint8Array;

const FORMS: Readonly<Record<string, Check>> = {
  string: ['a string', isText],
  strings: ['a list of strings', areTexts],
  command: ['a string or a list of strings', (value) => isText(value) || areTexts(value)],
  bytes: ['bytes', isBytes],
  text: ['a string or bytes', (value) => isText(value) || isBytes(value)],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  object: ['an object', isObject],
  objects: ['a list of objects', (value) => Array.isArray(value) && value.every(isObject)],
  map: ['an object of strings', (value) => isObject(value) && Object.values(value).every((each) => isText(each ?? ''))],
  function: ['a function', (value) => typeof value === 'function'],
  signal: ['an AbortSignal', (value) => isObject(value) && typeof value.aborted === 'boolean'],
  any: ['', () => true],
};

/** Throws InvalidArgumentError; undefined and null stand for what is left out. */
export function requireForm(name: string, value: unknown, form: Form): void {
  const isRequired = form.startsWith('!');
  const isLeftOut = value === undefined || value === null;
  if (isLeftOut && !isRequired) return;
  const { kind, check } = parsed.get(form) ?? parse(form);
  const [what, is] = check;
  if (kind === 'duration') secondsOf(name, value as Duration);
  // Lengths of time in the units of the service, and words.
  if (kind === 'converted') toWire({ [name]: value });
  const isMissing = isRequired && (isLeftOut || (value as string | unknown[]).length === 0);
  if (isMissing || !is(value))
    throw invalid(`${name} must be ${what}${isRequired && is === FORMS[kind]?.[1] ? ' that is not empty' : ''}`);
}

const parsed = new Map<Form, { kind: string; check: Check }>();

function parse(form: Form): { kind: string; check: Check } {
  const [kind = '', ...rest] = form.replace('!', '').split(' ');
  const check = kind === 'integer' ? integer(rest) : kind === 'one' ? oneOf(rest) : (FORMS[kind] ?? FORMS.any!);
  parsed.set(form, { kind, check });
  return { kind, check };
}

function integer([lowest, highest, ...note]: readonly string[]): Check {
  const range = highest === undefined ? ` of at least ${lowest}` : ` between ${lowest} and ${highest}`;
  const what = `an integer${lowest === undefined ? '' : range}${note.length > 0 ? ` (${note.join(' ')})` : ''}`;
  const is = (value: unknown) => {
    const isBelow = Number(value) < Number(lowest ?? -Infinity);
    return Number.isSafeInteger(value) && !isBelow && !(Number(value) > Number(highest ?? Infinity));
  };
  return [what, is];
}

function oneOf([words = '']: readonly string[]): Check {
  const all = words.split('|');
  return [`one of ${all.join(', ')}`, (value) => value === '' || all.includes(value as string)];
}
