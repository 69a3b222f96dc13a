import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostDisk } from '../../../../../lib/disk/host-disk.ts';
import { Cache } from '../../../../../lib/store/cache.ts';
import { ObjectStore } from '../../../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../../../lib/store/open-files.ts';
import type { Entry } from '../../../../../lib/trees/format/entry.ts';
import { HostSyncs, OwnSyncs } from '../../../../../lib/workspaces/delta/contents/host-syncs.ts';
import { LargeCopies } from '../../../../../lib/workspaces/delta/contents/large-copies.ts';
import { LargeFrees } from '../../../../../lib/workspaces/delta/contents/large-frees.ts';
import { FrozenLayers } from '../../../../../lib/workspaces/delta/layers/frozen-layers.ts';
import { put } from '../../../../../lib/workspaces/tree/changes/names.ts';
import { thaw } from '../../../../../lib/workspaces/tree/changes/thaw.ts';
import { Descriptors } from '../../../../../lib/workspaces/tree/contents/descriptors.ts';
import { type ContentsIn, TreeContents } from '../../../../../lib/workspaces/tree/contents/tree-contents.ts';
import { Ending } from '../../../../../lib/workspaces/tree/disk/ending.ts';
import { type Frozen, freeze } from '../../../../../lib/workspaces/tree/freeze.ts';
import { entryOf, type OwnFile } from '../../../../../lib/workspaces/tree/items.ts';
import { fileEntry } from '../../../trees/random.ts';
import { at, type Live, liveTree, TIME } from '../live.ts';
import { MemoryJournal } from '../memory-journal.ts';

const STORE = 7n;
const NOWHERE = { generation: 1, end: 1 };

/** A live tree with contents in a folder of this machine, above a codebase. */
export class OnHost {
  readonly folder = mkdtempSync(join(tmpdir(), 'paddock-contents-'));
  readonly live: Live = liveTree([]);
  readonly codebase: ObjectStore;
  readonly damages: string[] = [];
  readonly contents: TreeContents;
  #ino = 100;

  constructor(options: Partial<ContentsIn> = {}) {
    mkdirSync(`${this.folder}/codebase`);
    mkdirSync(`${this.folder}/deltas`);
    const parts = { disk: hostDisk, files: new OpenFiles(hostDisk), cache: new Cache<never, never>(1 << 20) };
    this.codebase = ObjectStore.create(parts, `${this.folder}/codebase`, 3n);
    this.contents = new TreeContents({
      disk: hostDisk,
      descriptors: new Descriptors(),
      frozen: new FrozenLayers(),
      copies: new LargeCopies(),
      frees: new LargeFrees(),
      tree: this.live.tree,
      store: STORE,
      root: `${this.folder}/deltas`,
      layer: 'own/data',
      layerOf: (store) => (store === STORE + 1n ? 'parent/data' : undefined),
      codebase: this.codebase,
      next: { nextSequence: 1, nextNumber: 1 },
      syncs: new OwnSyncs(new HostSyncs(undefined, () => {})),
      now: () => TIME,
      journal: { at: NOWHERE, root: NOWHERE, durable: undefined, sync: () => new Ending((ended) => ended()) },
      answer: () => {},
      damaged: (_, message) => this.damages.push(message),
      ...options,
    });
  }

  /** A file of the codebase at a name, which is clean until it is changed. */
  published(name: string, bytes: Buffer): void {
    const writing = this.codebase.begin();
    const contents = writing.contents();
    contents.write(bytes);
    const { key, size } = contents.end();
    writing.sync();
    this.#put(name, { ...fileEntry(name, ''), key, size });
    this.freeze(true);
  }

  made(name: string): OwnFile {
    return this.#put(name, fileEntry(name, ''));
  }

  #put(name: string, entry: Entry): OwnFile {
    return put(this.live.tree, ...at(this.live.tree, name), { ...entry, ino: this.#ino++ }, TIME).item as OwnFile;
  }

  own(name: string): OwnFile {
    return thaw(this.live.tree, ...at(this.live.tree, name));
  }

  entry(name: string): Entry {
    return entryOf(this.live.tree.lookup(...at(this.live.tree, name))!);
  }

  all(entry: Entry): Buffer {
    const bytes = Buffer.alloc(entry.size);
    const done = this.contents.read(entry, 0, bytes);
    return bytes.subarray(0, done);
  }

  write(name: string, offset: number, bytes: Buffer | string): void {
    this.contents.write(this.own(name), offset, Buffer.from(bytes));
  }

  freeze(shared: boolean): Frozen {
    const frozen = freeze(this.live.tree, this.live.memory.placed, () => new MemoryJournal(), shared);
    this.contents.frozen(frozen);
    return frozen;
  }

  /** What is in the folder of contents. */
  files(): string[] {
    return readdirSync(`${this.folder}/deltas/own/data`, { recursive: true }).map(String).sort();
  }

  end(): void {
    this.contents.close();
    this.codebase.close();
    rmSync(this.folder, { recursive: true });
  }
}
