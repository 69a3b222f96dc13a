import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isId } from '../ids.ts';
import { type Report, reasonOf } from './report.ts';

/** Notes on what lies in the folder `path` and is not `known`. `kind`: what it looks like, like "a delta". */
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

/** Whether a record has the id that a folder is named by; undefined: that is not the name of such a folder. */
export function knownId(prefix: string, records: ReadonlyMap<string, unknown>): (name: string) => boolean | undefined {
  return (name) => (isId(prefix, name) ? records.has(name) : undefined);
}

/** What is not there has nothing in it. */
export async function namesIn(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (reasonOf(error) === 'ENOENT') return [];
    throw error;
  }
}
