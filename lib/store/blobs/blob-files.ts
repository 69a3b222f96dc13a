import type { Disk } from '../../disk/disk.ts';
import { errorCode } from '../../linux/errno.ts';
import type { Key } from '../../trees/format/keys.ts';
import { hexOf } from '../packs/record.ts';

/** Contents that are files of their own, named by their digests. */
export class BlobFiles {
  readonly #disk: Disk;
  readonly #folder: string;

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** undefined: it is not here. */
  open(key: Key): number | undefined {
    try {
      return this.#disk.open(this.path(key), 'read');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      return undefined;
    }
  }

  path(key: Key): string {
    const name = hexOf(key);
    return `${this.#folder}/${name.slice(0, 2)}/${name}`;
  }
}
