import type { Disk } from '../disk/disk.ts';
import type { Source } from '../trees/directory/source.ts';
import type { DirectoryObject } from '../trees/format/directory-object.ts';
import type { Key } from '../trees/format/keys.ts';
import { StagedBlobs } from './blobs/staged-blobs.ts';
import { Cache } from './cache.ts';
import { directoryOf } from './directory-of.ts';
import type { SealAt } from './limits.ts';
import { OpenFiles } from './open-files.ts';
import { quietly } from './packs/pack.ts';
import { PackSet } from './packs/pack-set.ts';
import { readStoreFile } from './store-file.ts';
import { type Adoptable, type WritablePacks, Writing } from './writing.ts';

const CACHE_BYTES = 8 * 1024 * 1024;

/**
 * A writing in any thread, with packs of its own. They are open in `tmp/`, and come to the others sealed. Its large contents stay
 * there. After its `sync` the writing of the store adopts both. It finds and reads nothing but what it put: so what it takes does
 * not grow with the store. What is there twice then is garbage, once. The holder calls `end`, or `drop` if nobody adopts it.
 */
export class BulkWriting extends Writing implements Adoptable, Source {
  readonly large: ReadonlyMap<Key, string>;
  readonly #disk: Disk;
  readonly #packs: PackSet;
  /** An archive asks for the same directory with each of its members. */
  readonly #cache = new Cache<Key, DirectoryObject>(CACHE_BYTES).part();

  constructor(disk: Disk, folder: string, sealAt?: SealAt) {
    let losses = 0;
    const lost = (): void => {
      losses++;
    };
    const tmp = `${folder}/tmp`;
    const place = {
      disk,
      files: new OpenFiles(disk, 8),
      folder: `${folder}/packs`,
      open: tmp,
      ...(sealAt && { sealAt }),
    };
    const packs = new PackSet(place, lost);
    const writable: WritablePacks = {
      has: () => false,
      append: (kind, key, payload) => packs.append(kind, key, payload),
      add: () => {},
      sync: () => {
        packs.finish();
        // One that could not be sealed is no one's.
        if (packs.packs.some(({ sealed }) => !sealed)) lost();
        // Their names: those of before are in a folder that is emptied at the next start.
        disk.syncFolder(place.folder);
      },
    };
    const blobs = new StagedBlobs(disk);
    const nothing = (): void => {};
    const told = { losses: () => losses, lost, used: nothing, adopted: nothing, ended: nothing };
    super({ disk, seed: readStoreFile(disk, folder).seed, tmp, packs: writable, blobs, ...told }, 'all');
    this.#disk = disk;
    this.#packs = packs;
    this.large = blobs.files;
  }

  /** Those that are sealed. */
  get packs(): readonly string[] {
    return this.#packs.packs.flatMap(({ name, sealed }) => (sealed ? name : []));
  }

  load(key: Key): DirectoryObject {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const object = directoryOf(this.#packs.payload(key));
    this.#cache.set(key, object, object.bytes.length);
    return object;
  }

  override end(): void {
    this.#packs.close();
  }

  /** Nothing is left of it. Not after it was adopted. */
  drop(): void {
    this.#packs.drop();
    for (const path of this.large.values()) quietly(() => this.#disk.unlink(path));
  }
}
