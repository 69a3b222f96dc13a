import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './linux/errno.ts';

const NAME = 'record.json';
const TEMPORARY = 'record.json.tmp';
const MAX_BYTES = 64 * 1024;

/**
 * Replaces the record of a directory atomically: the death of the server leaves the old one or the new one, a power
 * failure may leave a damaged one. Mode 0600. One write at a time in each directory. Rejects if the record is larger than
 * 64 KiB as JSON, and with the errors of the host.
 */
export async function writeRecord(directory: string, record: object): Promise<void> {
  const text = JSON.stringify(record);
  const size = Buffer.byteLength(text);
  if (size > MAX_BYTES) throw new Error(`a record of ${size} bytes is larger than ${MAX_BYTES}`);
  const temporary = join(directory, TEMPORARY);
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
  await rename(temporary, join(directory, NAME));
}

/** The record of a directory; undefined: none, or a damaged one. Rejects with other errors of the host. */
export async function readRecord(directory: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const content = await readFile(join(directory, NAME)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  return content === undefined || content.length > MAX_BYTES ? undefined : parseObject(content.toString('utf8'));
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
