import { randomBytes } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import type { Key } from '../../trees/format/keys.ts';
import type { NamedBlobs } from './blobs.ts';

/**
 * Large contents of a writing in another thread, synced, until the writing of the store gives them their names. Only that may: a
 * name that is there is taken for durable by others, and garbage collection removes those that nobody uses.
 */
export class StagedBlobs implements NamedBlobs {
  /** Where each of them is. */
  readonly files = new Map<Key, string>();
  readonly #disk: Disk;
  readonly #tmp: string;

  constructor(disk: Disk, tmp: string) {
    this.#disk = disk;
    this.#tmp = tmp;
  }

  publish(key: Key, path: string, how: 'rename' | 'link'): void {
    const isKnown = this.files.has(key);
    if (how === 'rename') {
      // It is in the folder of what is being written already.
      if (isKnown) this.#disk.unlink(path);
      else this.files.set(key, path);
    } else if (!isKnown) {
      const name = `${this.#tmp}/${randomBytes(16).toString('hex')}`;
      this.#disk.link(path, name);
      this.files.set(key, name);
    }
  }

  /** Names that are lost are no loss: nobody looks for them after a crash. */
  sync(): void {}
}
