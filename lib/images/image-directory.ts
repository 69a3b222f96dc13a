import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../host-tree/remove-tree.ts';
import { run } from '../linux/run.ts';
import type { Log } from '../log.ts';
import { DurableFile } from '../metadata/durable-file.ts';
import { isDigest } from './digests.ts';
import type { ImageRecord } from './image-record.ts';

const HEX = /^[0-9a-f]{64}$/;
const RECORD = 'image.json';

/** Name of the directory of an image. */
export const hexOf = (id: string): string => id.slice('sha256:'.length);

/**
 * Removes what imports and removals that a crash interrupted have left, and reads the records of all images. An image
 * whose record cannot be read is left out and logged; its files stay.
 */
export async function readImages(path: string, log: Log): Promise<ImageRecord[]> {
  const images: ImageRecord[] = [];
  for (const name of await readdir(path)) {
    if (!HEX.test(name)) {
      await removeTree(join(path, name));
      continue;
    }
    try {
      images.push(parse(await readFile(join(path, name, RECORD), 'utf8'), `sha256:${name}`));
    } catch (err) {
      log.warn('the record of an image cannot be read; the image is not available', { path: join(path, name), err });
    }
  }
  return images;
}

function parse(text: string, id: string): ImageRecord {
  const record = JSON.parse(text) as ImageRecord;
  if (!isDigest(record.id) || record.id !== id || !Array.isArray(record.entries) || typeof record.names !== 'object') {
    throw new Error('it is not the record of this image');
  }
  return Object.freeze(record);
}

/** Durable when it resolves. */
export function writeRecord(directory: string, record: ImageRecord): Promise<void> {
  return new DurableFile(join(directory, RECORD)).replace(`${JSON.stringify(record)}\n`);
}

/** Makes an unpacked image durable, with its record, and then visible under its id. */
export async function publish(path: string, work: string, record: ImageRecord): Promise<void> {
  await removeTree(join(work, 'trash'));
  await removeTree(join(work, 'blobs'));
  await writeRecord(work, record);
  const { code, stderr } = await run('sync', ['-f', work]);
  if (code !== 0) throw new Error(`sync: ${stderr}`);
  await rename(work, join(path, hexOf(record.id)));
  await run('sync', ['-f', path]);
}
