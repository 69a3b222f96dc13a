import { dirname } from 'node:path';
import type { Disk } from '../../../disk/disk.ts';
import type { Seed } from '../../../trees/directory/name-hash.ts';
import { Damage } from '../../delta/damage.ts';
import { JournalChain } from '../journal/chain.ts';
import { Journals } from '../journal/journals.ts';
import type { Named } from '../journal/named.ts';
import type { JournalRecord } from '../journal/records.ts';
import { makeFolder } from './files.ts';
import { isBefore } from './mark.ts';
import { NewNames } from './new-names.ts';
import type { ObjectCache } from './object-cache.ts';
import { RootFile } from './root-file.ts';
import { SegmentWriter } from './segment-writer.ts';
import { SEGMENTS, SegmentNumbers } from './segments.ts';
import type { Sync } from './sync-steps.ts';
import { SyncTurns } from './sync-turns.ts';
import type { TreeRoot, TreeState } from './tree-root.ts';
import { TreeStore } from './tree-store.ts';
import type { Unsynced } from './unsynced.ts';

export interface StoreIn {
  readonly disk: Disk;
  /** Of the sandbox. */
  readonly folder: string;
  /** Of all workspaces of the thread. */
  readonly cache: ObjectCache;
  /** Of the codebase. */
  readonly seed: Seed;
  readonly sync: Sync;
  readonly contents: Unsynced;
  /** 32 bits that nobody knows. */
  readonly random: () => number;
}

/** Begins a store with a first state. Nothing of it is durable before a sync. Throws host errors. */
export function createStore(where: StoreIn, store: bigint, state: TreeState): TreeStore {
  const { disk, folder, random } = where;
  makeFolder(disk, folder);
  // So the journals of a store that was never durable, if any are left, do not go on from here.
  const former = { end: 0, crc: random() };
  const first = { ...state, store, segment: 0, nextSegment: 1, generation: 1, former };
  return storeOf(where, RootFile.create(disk, rootPath(folder), first), undefined);
}

/** undefined: there is none, and as far as is known none was ever durable. Throws Damage, and host errors. */
export function openStore(where: StoreIn): Opening | undefined {
  const file = RootFile.open(where.disk, rootPath(where.folder));
  return file && new Opening(where, file);
}

/** A store whose journals are being read: `journals`, then `finish`; or `close`. */
class Opening {
  readonly #in: StoreIn;
  readonly #file: RootFile;
  readonly #chain: JournalChain;

  constructor(where: StoreIn, file: RootFile) {
    this.#in = where;
    this.#file = file;
    this.#chain = new JournalChain(where.disk, where.folder, file.root);
  }

  get root(): TreeRoot {
    return this.#file.root;
  }

  /** See `TreeStore`. */
  get isSole(): boolean {
    return this.#file.isSole;
  }

  /** Of the journals that were read. */
  get named(): Named[] {
    return this.#chain.read.map(({ named }) => named);
  }

  /** What has changed since the root, to be read in this order to the end. Each journal begins with other numbers. */
  journals(): Generator<Generator<JournalRecord, void, void>, void, void> {
    return this.#chain.journals();
  }

  /** Throws Damage if what was durable is not there. */
  finish(): TreeStore {
    const { mark } = this.#file;
    const { at } = this.#chain;
    if (mark !== undefined && isBefore(at, mark)) {
      const [has, had] = [at, mark].map(({ generation, end }) => `byte ${end} of journal ${generation}`);
      throw new Damage(`its changes end at ${has}, and were durable up to ${had}`, this.#in.folder);
    }
    return storeOf(this.#in, this.#file, this.#chain);
  }

  close(): void {
    this.#chain.close();
    this.#file.close();
  }
}

function storeOf(where: StoreIn, root: RootFile, chain: JournalChain | undefined): TreeStore {
  const { disk, folder, cache, seed, contents, random } = where;
  const names = new NewNames();
  // A server that was killed may have left names that are not durable.
  names.add(folder);
  names.add(dirname(folder));
  if (chain !== undefined && disk.readdir(folder).includes(SEGMENTS)) names.add(`${folder}/${SEGMENTS}`);
  const { store, segment, nextSegment } = root.root;
  const into = { disk, folder, store, names, cache, seed };
  const numbers = new SegmentNumbers(nextSegment);
  const results = new SegmentWriter(into, 0, numbers);
  const segments = new SegmentWriter(into, segment, numbers);
  const journals = new Journals({ disk, folder, names, random }, root.root, chain?.read ?? []);
  return new TreeStore({ contents, segments, results, journals, root, names, turns: new SyncTurns(where.sync) });
}

function rootPath(folder: string): string {
  return `${folder}/root`;
}
