import { CliError } from '../command-line/errors.ts';
import { isSection, type Section } from '../settings/read-yaml.ts';

/** What an agent's file says: how it runs in a sandbox. */
export interface Agent {
  /** Name of its program in PATH. */
  command: string;
  /** The command line that installs it, for people. */
  install: string;
  /** Before those of the caller. */
  args: readonly string[];
  /** What it connects to without a key. */
  hosts: readonly string[];
  /** Those that the caller has are used; one at least. */
  keys: readonly Key[];
  /** Variables that it gets as the caller has them. */
  pass: readonly string[];
  env: Readonly<Record<string, string>>;
  files: readonly HomeFile[];
}

/** A variable of the caller with a key, of which the agent gets a placeholder. */
export interface Key {
  variable: string;
  /** What it begins with. */
  shape: string;
  /** The one header of requests that it is sent in; empty: any. */
  header: string;
  hosts: readonly string[];
  /** The caller's variable with another address of the service, whose host is used in place of `hosts`; empty: none. */
  url: string;
}

/** A file of HOME: of the caller's text the whole or some keys, and values over them. */
export interface HomeFile {
  path: string;
  /** All of the caller's file or directory, which is text without credentials. */
  copy: boolean;
  /** Otherwise these keys of the top level. */
  keep: readonly string[];
  /** Values, with `{NAME}` for a variable of the agent. What names one that is not set is left out. */
  set: Section;
}

type Check<T> = (value: unknown, at: string) => T;

const isText = (value: unknown): value is string => typeof value === 'string';

function wrong(at: string, what: string): never {
  throw new CliError(`${at} must be ${what}`);
}

const text: Check<string> = (value, at) => (isText(value) ? value : wrong(at, 'a text'));
const texts: Check<readonly string[]> = (value, at) =>
  Array.isArray(value) && value.every(isText) ? value : wrong(at, 'a list of texts');
const flag: Check<boolean> = (value, at) => (typeof value === 'boolean' ? value : wrong(at, 'true or false'));
const section: Check<Section> = (value, at) => (isSection(value) ? value : wrong(at, 'a map'));
const textMap: Check<Readonly<Record<string, string>>> = (value, at) =>
  isSection(value) && Object.values(value).every(isText)
    ? (value as Record<string, string>)
    : wrong(at, 'a map of texts');

const pattern =
  (expression: RegExp, what: string): Check<string> =>
  (value, at) =>
    isText(value) && expression.test(value) ? value : wrong(at, what);

const variable = pattern(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable');
const program = pattern(/^[\w.+-]+$/, 'the name of a program in PATH, without a path');
/** Written by a command of the sandbox: nothing of it may be an option, or leave HOME. */
const homePath = pattern(
  /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.@ +-]+(?:\/[\w.@ +-]+)*$/,
  'a path below HOME, like .tool/settings.json',
);

const listOf =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value, at) =>
    Array.isArray(value) ? value.map((each, index) => check(each, `${at}[${index}]`)) : wrong(at, 'a list');

/** A map with exactly these keys; `or`: what a missing one stands for, undefined: it must be there. */
function mapOf<T extends object>(fields: { [K in keyof T]: [check: Check<T[K]>, or?: T[K]] }): Check<T> {
  return (value, at) => {
    if (!isSection(value)) wrong(at, 'a map');
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
    if (unknown !== undefined)
      throw new CliError(`${at}.${unknown} is unknown; known: ${Object.keys(fields).join(', ')}`);
    const entries = Object.entries<[Check<unknown>, unknown?]>(fields as never).map(([name, [check, or]]) => [
      name,
      or !== undefined && (value[name] ?? undefined) === undefined ? or : check(value[name], `${at}.${name}`),
    ]);
    return Object.fromEntries(entries) as T;
  };
}

const key = mapOf<Key>({
  variable: [variable],
  shape: [pattern(/^[A-Za-z0-9_-]{0,64}$/, 'at most 64 letters, digits, - and _'), ''],
  header: [text, ''],
  hosts: [texts],
  url: [variable, ''],
});

const homeFile = mapOf<HomeFile>({
  path: [homePath],
  copy: [flag, false],
  keep: [texts, []],
  set: [section, {}],
});

/** Checks the values of a file; `at` names it. Throws CliError. */
export const checkedAgent = mapOf<Agent>({
  command: [program],
  install: [text],
  args: [texts, []],
  hosts: [texts, []],
  keys: [listOf(key), []],
  pass: [listOf(variable), []],
  env: [textMap, {}],
  files: [listOf(homeFile), []],
});
