import { inspect } from 'node:util';
import { parseDocument } from 'yaml';
import { nearest } from './nearest.ts';
import { isKey, type Key, type Section } from './schema.ts';
import { NotAllowed, type ValueContext } from './values.ts';

/** A message of one line that names file, key, value and the allowed values. */
export class ConfigError extends Error {}

/** Of the command line, not of a file. */
export class UsageError extends ConfigError {}

/** Parses the file's content into plain values; `file` is used in errors only. */
export function parseYaml(source: string, file: string): unknown {
  const document = parseDocument(source, { prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem) throw new ConfigError(`${file}: not valid YAML: ${firstLine(problem.message)}`);
  try {
    return document.toJS() as unknown;
  } catch (error) {
    throw new ConfigError(`${file}: not valid YAML: ${firstLine(String(error))}`);
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/:$/, '');
}

export interface Source extends ValueContext {
  /** Name for errors: the file, or the flag. */
  name: string;
}

/**
 * Reads `given` by the schema `section`: unknown keys are refused, absent keys have their default. A key with an entry
 * in `overrides` (by its dotted name) uses the override's value and source; the value in the file must be valid
 * nevertheless. Throws ConfigError.
 */
export function readSection(
  section: Section,
  given: unknown,
  source: Source,
  overrides: ReadonlyMap<string, { value: unknown; source: Source }>,
  prefix = '',
): Record<string, unknown> {
  const map = given ?? {};
  if (typeof map !== 'object' || Array.isArray(map)) {
    const place = prefix ? `${prefix.slice(0, -1)}: ` : '';
    throw new ConfigError(`${source.name}: ${place}value ${show(given)} is not allowed: a map of ${names(section)}`);
  }
  const entries = new Map(Object.entries(map));
  for (const name of entries.keys()) {
    if (!Object.hasOwn(section, name)) throw new ConfigError(unknownKey(section, name, source, prefix));
  }
  const values: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(section)) {
    const path = prefix + name;
    values[camelCase(name)] = isKey(node)
      ? readKey(node, path, entries, name, source, overrides)
      : readSection(node, entries.get(name), source, overrides, `${path}.`);
  }
  return values;
}

function readKey(
  key: Key<unknown>,
  path: string,
  entries: ReadonlyMap<string, unknown>,
  name: string,
  source: Source,
  overrides: ReadonlyMap<string, { value: unknown; source: Source }>,
): unknown {
  const override = overrides.get(path);
  const present = entries.has(name);
  const own = present || !override ? parse(key, present ? entries.get(name) : key.default, source, path) : undefined;
  return override ? parse(key, override.value, override.source) : own;
}

function parse(key: Key<unknown>, raw: unknown, source: Source, path?: string): unknown {
  const place = path === undefined ? source.name : `${source.name}: ${path}`;
  try {
    return key.parse(raw, { folder: source.folder, warn: (message) => source.warn(`${place}: ${message}`) });
  } catch (error) {
    if (!(error instanceof NotAllowed)) throw error;
    const Refused = path === undefined ? UsageError : ConfigError;
    throw new Refused(`${place}: value ${show(raw)} is not allowed: ${error.message}`);
  }
}

function unknownKey(section: Section, name: string, source: Source, prefix: string): string {
  const known = nearest(name, Object.keys(section));
  const hint = known ? `did you mean ${prefix}${known}?` : `known are ${names(section)}`;
  return `${source.name}: ${prefix}${show(name).slice(1, -1)}: unknown key; ${hint}`;
}

function names(section: Section): string {
  return Object.keys(section).join(', ');
}

/** The value on one line; long values are shortened, and the user and password of a URL are omitted. */
function show(value: unknown): string {
  const shown = typeof value === 'string' ? JSON.stringify(value) : inspect(value, { breakLength: Infinity, depth: 2 });
  const line = shown.replaceAll('\n', ' ').replaceAll(/:\/\/[^\s"']*@/g, '://…@');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
