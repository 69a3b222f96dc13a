import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { isSection, type Section } from '../settings/read-yaml.ts';
import type { HomeFile } from './agent.ts';
import { parserOf, writerOf } from './settings-formats.ts';

export interface Written {
  /** Below HOME. */
  path: string;
  text: string;
}

interface Source {
  /** HOME of the caller. */
  home: string;
  /** Those of the agent, for `{NAME}`. */
  variables: Readonly<Record<string, string>>;
  /** Told of each file that is not copied. */
  skipped: (path: string, reason: string) => void;
}

/** A command of the sandbox gets them as arguments. */
const MOST_BYTES = 64 * 1024;
const MOST_FILES = 200;

/** The files of the agent's HOME. */
export function homeFiles(files: readonly HomeFile[], source: Source): Written[] {
  return files.flatMap((file) => (file.copy ? copied(file.path, source) : settings(file, source))).slice(0, MOST_FILES);
}

/** Of a directory everything below it. Links in it are not followed. */
function copied(path: string, source: Source): Written[] {
  const at = join(source.home, path);
  const stats = statSync(at, { throwIfNoEntry: false });
  if (stats?.isDirectory()) {
    return readdirSync(at, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .flatMap(({ name }) => copied(`${path}/${name}`, source));
  }
  const text = stats?.isFile() ? textOf(path, source) : undefined;
  return text === undefined ? [] : [{ path, text }];
}

/** Only what is named comes of the caller's file: what else tools write there may be a key, now or in a later release. */
function settings({ path, keep, set }: HomeFile, source: Source): Written[] {
  const format = extname(path);
  const text = keep.length > 0 ? textOf(path, source) : undefined;
  let own: Section = {};
  try {
    if (text !== undefined) own = parserOf(format)(text);
  } catch {
    source.skipped(path, 'it cannot be parsed');
  }
  const kept = Object.fromEntries(Object.entries(own).filter(([name]) => keep.includes(name)));
  const values = merged(kept, (filled(set, source.variables) ?? {}) as Section);
  return Object.keys(values).length > 0 ? [{ path, text: writerOf(format)(values) }] : [];
}

function textOf(path: string, { home, skipped }: Source): string | undefined {
  const at = join(home, path);
  const stats = statSync(at, { throwIfNoEntry: false });
  if (!stats?.isFile()) return undefined;
  if (stats.size > MOST_BYTES) {
    skipped(path, `it has more than ${MOST_BYTES / 1024} KiB`);
    return undefined;
  }
  return readFileSync(at, 'utf8');
}

function merged(base: Section, over: Section): Section {
  const all: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(over)) {
    const below = all[name];
    all[name] = isSection(below) && isSection(value) ? merged(below, value) : value;
  }
  return all;
}

/** undefined: it names a variable that is not set. `{NAME.20}`: its last 20 characters. */
function filled(value: unknown, variables: Source['variables']): unknown {
  if (typeof value === 'string') {
    const names = [...value.matchAll(VARIABLE)].map(([, name]) => name!);
    if (names.some((name) => variables[name] === undefined)) return undefined;
    return value.replace(VARIABLE, (_, name: string, last?: string) => variables[name]!.slice(-Number(last ?? 0)));
  }
  if (Array.isArray(value)) return value.map((each) => filled(each, variables)).filter((each) => each !== undefined);
  if (!isSection(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [filled(name, variables), filled(each, variables)]);
  return Object.fromEntries(entries.filter((entry) => !entry.includes(undefined)));
}

const VARIABLE = /\{([A-Za-z_][A-Za-z0-9_]*)(?:\.(\d+))?\}/g;
