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

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** It stays in the folder of what is being written. */
  publish(key: Key, path: string): void {
    if (this.files.has(key)) this.#disk.unlink(path);
    else this.files.set(key, path);
  }

  /** Names that are lost are no loss: nobody looks for them after a crash. */
  sync(): void {}
}
