import { Cache } from '../../../lib/store/cache.ts';
import { MAX_PACKED, type SealAt } from '../../../lib/store/limits.ts';
import type { StoreParts } from '../../../lib/store/object-reads.ts';
import { ObjectStore } from '../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../lib/store/open-files.ts';
import type { Version } from '../../../lib/store/versions/version.ts';
import type { DirectoryObject } from '../../../lib/trees/format/directory-object.ts';
import { encodeObject } from '../../../lib/trees/format/encode-object.ts';
import { NO_KEY } from '../../../lib/trees/format/keys.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { directoryEntry, fileEntry } from '../trees/random.ts';

export const FOLDER = '/store';

function partsOn(disk: SimulatedDisk, sealAt?: SealAt): StoreParts {
  return { ...(sealAt && { sealAt }), disk, files: new OpenFiles(disk), cache: new Cache(1024 * 1024) };
}

export function newStore(disk = new SimulatedDisk(), sealAt?: SealAt): ObjectStore {
  const store = ObjectStore.create(partsOn(disk, sealAt), FOLDER, 7n);
  disk.syncFolder('/');
  return store;
}

export function reopened(disk: SimulatedDisk, sealAt?: SealAt): ObjectStore {
  return ObjectStore.open(partsOn(disk, sealAt), FOLDER);
}

export function packFiles(disk: SimulatedDisk): string[] {
  return disk.readdir(`${FOLDER}/packs`);
}

export function directory(...names: string[]): DirectoryObject {
  return encodeObject(
    0,
    names.sort().map((name) => fileEntry(name, name)),
  );
}

/** Just above what a pack takes. */
export function largeBytes(seed: number): Buffer {
  const bytes = Buffer.alloc(MAX_PACKED + 1, seed);
  bytes.writeUInt32LE(seed, 0);
  return bytes;
}

export function version(number: number, change: Partial<Version> = {}): Version {
  return {
    number,
    kind: 'upload',
    createdAt: 1_780_000_000_000,
    parent: NO_KEY,
    root: { ...directoryEntry(''), totals: directoryEntry('').totals! },
    nextIno: 5,
    author: '',
    message: '',
    paths: [],
    commit: undefined,
    request: undefined,
    ...change,
  };
}
