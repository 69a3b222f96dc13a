import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

const MAX_KNOWN = 50_000;
const CHUNK = 256 * 1024;

/**
 * A cache of lower-case hex SHA-256 checksums, keyed by attributes that change with every change of the content:
 * device, inode, size, mtime and ctime. The least recently used entries are evicted and computed again from the file.
 */
export class Checksums {
  readonly #known = new Map<string, string>();

  /** Stores the checksum of the file that has these stats. Beyond the maximum the oldest entry is dropped. */
  remember(stats: BigIntStats, checksum: string): void {
    const key = keyOf(stats);
    this.#known.delete(key);
    this.#known.set(key, checksum);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value as string);
  }

  /** Returns the checksum of the open file; `stats` must be its own. */
  async of(handle: FileHandle, stats: BigIntStats): Promise<string> {
    const checksum = this.#known.get(keyOf(stats)) ?? (await compute(handle));
    this.remember(stats, checksum);
    return checksum;
  }
}

function keyOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

async function compute(handle: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, bytesRead));
    position += bytesRead;
  }
}
