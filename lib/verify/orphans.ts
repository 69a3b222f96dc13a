import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../ids.ts';
import { type Report, reasonOf } from './report.ts';

/**
 * Adds notes about entries of the directory `path` that are not `known`. `kind`: their description, for example "a
 * delta".
 */
export async function noteOrphans(
  path: string,
  kind: string,
  known: (name: string) => boolean | undefined,
  report: Report,
): Promise<void> {
  for (const name of await namesIn(path)) {
    if (known(name) === false) report.note(`${join(path, name)} is ${kind} that no record names`);
  }
}

/** Returns a predicate for directory names: whether a record has this id; undefined for names that are not ids. */
export function knownId(prefix: string, records: ReadonlyMap<string, unknown>): (name: string) => boolean | undefined {
  return (name) => (isId(prefix, name) ? records.has(name) : undefined);
}

/** Empty for a directory that does not exist. */
export async function namesIn(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (reasonOf(error) === 'ENOENT') return [];
    throw error;
  }
}
