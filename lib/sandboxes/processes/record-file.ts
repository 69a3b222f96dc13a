import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../linux/errno.ts';

const NAME = 'process.json';

/**
 * Writes the first record of a new directory. If the server dies meanwhile, a part of it may be there, which is no JSON.
 * The caller waits for it with each start of a process, so there is no second file and no wait for close(2).
 */
export async function writeFirstRecord(dir: string, record: object): Promise<void> {
  const handle = await open(join(dir, NAME), 'wx', 0o600);
  try {
    await handle.writeFile(JSON.stringify(record));
  } finally {
    void handle.close().catch(() => undefined);
  }
}

/**
 * Replaces the record in a directory, as a whole or not at all. It survives the death of the server, not that of the
 * machine: nothing is synced. Calls for one directory must not overlap.
 */
export async function writeRecord(dir: string, record: object): Promise<void> {
  const path = join(dir, NAME);
  await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The record in a directory; undefined if there is none. Throws if it cannot be read, or is not JSON. */
export async function readRecord(dir: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(dir, NAME), 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
