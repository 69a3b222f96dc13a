import type { Disk } from '../../../disk/disk.ts';
import type { HostFile } from '../../../host-tree/host-file.ts';
import type { Entry, Time } from '../../../trees/format/entry.ts';
import { fileOf, type Key, KIND, kindOf } from '../../../trees/format/keys.ts';
import { ContentStore } from '../../delta/contents/content-store.ts';
import { DataFiles, type DataStat, statData } from '../../delta/contents/data-files.ts';
import { truncateFile, writeFile } from '../../delta/contents/host-io.ts';
import type { OwnSyncs } from '../../delta/contents/host-syncs.ts';
import type { LargeCopies } from '../../delta/contents/large-copies.ts';
import type { LargeFrees } from '../../delta/contents/large-frees.ts';
import { SMALL } from '../../delta/contents/slabs.ts';
import type { FrozenReader } from '../../delta/contents/slot-contents.ts';
import { type DataRef, NO_SLOT } from '../../delta/contents/stored-file.ts';
import { TopLayer } from '../../delta/contents/top-layer.ts';
import { dataWritten, setText } from '../changes/contents.ts';
import type { FreezeSink } from '../disk/freezes.ts';
import type { Frozen } from '../freeze.ts';
import { OwnFile } from '../items.ts';
import type { LiveTree } from '../live-tree.ts';
import type { CodebaseContents } from './codebase-contents.ts';
import { CodebaseReads } from './codebase-reads.ts';
import { ContentRecords } from './content-records.ts';
import { ContentSyncs, type SyncsIn } from './content-syncs.ts';
import { ContentsReads } from './contents-reads.ts';
import type { Descriptors } from './descriptors.ts';
import { Lifetime, writableName } from './lifetime.ts';
import { loadContents } from './load-contents.ts';
import type { NamedContents } from './named-contents.ts';
import { type NextNumbers, Numbers } from './numbers.ts';
import { ReadDamage } from './read-damage.ts';
import { encodeSlabMaps } from './slab-maps.ts';
import { TreeFile } from './tree-file.ts';
import type { TreeFileContents } from './tree-file-contents.ts';
import { UnsyncedContents } from './unsynced-contents.ts';
import type { Durability } from './waiting-frees.ts';

const NO_DATA: Buffer = Buffer.alloc(0);

/** What the contents of all trees of a thread share. */
export interface SharedContents {
  readonly disk: Disk;
  readonly descriptors: Descriptors;
  readonly frozen: FrozenReader;
  readonly copies: LargeCopies;
  readonly frees: LargeFrees;
}

export interface ContentsIn extends SharedContents {
  readonly tree: LiveTree;
  readonly store: bigint;
  /** The folder of all sandboxes, and that of this one's contents in it. */
  readonly root: string;
  readonly layer: string;
  /** The same of the store of another sandbox; undefined: there is none. */
  readonly layerOf: (store: bigint) => string | undefined;
  readonly codebase: CodebaseContents;
  readonly next: NextNumbers;
  readonly syncs: OwnSyncs;
  /** The `TreeStore` that has the tree. */
  readonly journal: Durability & SyncsIn['journal'];
  readonly answer: SyncsIn['answer'];
  readonly now: () => Time;
  /** Called once for each damaged file. */
  readonly damaged: (entry: Entry, message: string) => void;
}

/** See `TreeFileContents`. The owner calls `close`. */
export class TreeContents implements TreeFileContents {
  /** What a sync or a freeze of the `TreeStore` has to make durable. */
  readonly unsynced: UnsyncedContents;
  readonly #in: ContentsIn;
  readonly #numbers: Numbers;
  readonly #top: TopLayer;
  readonly #store: ContentStore;
  readonly #records: ContentRecords;
  readonly #reads: ContentsReads;
  readonly #dataFiles: DataFiles;
  readonly #lifetime: Lifetime;
  readonly #syncs: ContentSyncs;
  /** Own files that were changed since the last freeze. */
  readonly #files = new WeakMap<OwnFile, TreeFile>();

  constructor(where: ContentsIn) {
    const { tree, store, root, layer, disk, damaged, copies, frees } = where;
    const mayChange = (key: Key) => tree.epochs.mayChange(key);
    const damage = new ReadDamage(damaged);
    this.#in = where;
    const numbers = new Numbers(where.next);
    const top = new TopLayer(root, layer, (file) => isShared((file as TreeFile).key, mayChange), disk);
    const files = new DataFiles(root, copies, frees);
    this.#numbers = numbers;
    this.#top = top;
    this.#dataFiles = files;
    this.#records = new ContentRecords({
      ...where,
      numbers,
      damaged: (file, message) => damaged(file.own.entry, message),
      made: (file) => this.unsynced.made(file),
    });
    this.#store = new ContentStore(top, where, this.#records);
    this.unsynced = new UnsyncedContents({ disk, top, store: this.#store, files });
    this.#lifetime = new Lifetime({ ...where, top, files, store: this.#store, unsynced: this.unsynced, mayChange });
    this.#syncs = new ContentSyncs({ ...where, unsynced: this.unsynced });
    this.#reads = new ContentsReads({
      ...where,
      store,
      top,
      files,
      codebase: new CodebaseReads(where, damage),
      damage,
      mayChange,
    });
  }

  /** Goes on with what the server before has left; see `loadContents`. */
  load(maps: Buffer | undefined, named: NamedContents): void {
    const { tree, store, journal } = this.#in;
    const [top, files, lifetime, numbers] = [this.#top, this.#dataFiles, this.#lifetime, this.#numbers];
    loadContents({ tree, store, top, files, lifetime, numbers, journal }, maps, named);
  }

  /** What a freeze keeps in its root. */
  state(sink: Pick<FreezeSink, 'putBytes'>): NextNumbers & { readonly slabMaps: Key } {
    this.unsynced.mayBeNamed();
    return { ...this.#numbers.next, slabMaps: sink.putBytes(encodeSlabMaps(this.#top.slabs.used)) };
  }

  /** Called after a freeze: these are clean, and what is written to them next is a change of its own. */
  frozen(items: Frozen): void {
    for (const own of items.keys()) {
      const file = own instanceof OwnFile ? this.#files.get(own) : undefined;
      if (file === undefined) continue;
      this.#store.slots.removed(file);
      if (file.data.slot !== NO_SLOT) this.#top.slabs.keep(file.data.slot);
      this.#files.delete(file.own);
    }
  }

  read(entry: Entry, offset: number, into: Buffer): number {
    return this.#reads.read(entry, offset, into);
  }

  hostFile(entry: Entry): HostFile | undefined {
    return this.#reads.hostFile(entry);
  }

  write(own: OwnFile, offset: number, data: Buffer): number {
    this.#lifetime.settle();
    const file = this.#fileOf(own);
    if (this.#writesSmall(file, offset, data)) return data.length;
    const fd = this.#writable(file);
    const done = writeFile(fd, offset, data);
    // Any other write fills no hole and leaves none.
    const holes = file.holes > 0 || offset > file.size ? statData(fd).holes : 0;
    this.#wrote(file, Math.max(file.size, offset + done), holes);
    return done;
  }

  truncate(own: OwnFile, size: number): void {
    const file = this.#fileOf(own);
    if (this.#truncatesSmall(file, size)) return;
    const fd = this.#writable(file);
    this.#in.frees.truncating(fd, size);
    try {
      truncateFile(fd, size);
    } finally {
      const { size: now, holes } = statData(fd);
      this.#wrote(file, now, holes);
    }
  }

  makeText(own: OwnFile, bytes: Buffer): void {
    const { entry } = own;
    this.#store.slots.put(this.#fileOf(own), bytes);
    if (kindOf(entry.key) === KIND.file) this.#lifetime.release(entry.key);
    // Not before: until then the file may have what rules hide.
    setText(this.#in.tree, own, true);
  }

  sync(own: OwnFile | undefined, _datasync: boolean): number | undefined {
    const file = own && this.#files.get(own);
    // The disk has the size of a data file, but not what the tree shows as its time.
    if (file?.isOpen && !file.isMeasured) this.#records.measured(file);
    return this.#syncs.add(own && fileOf(own.entry.key)?.number);
  }

  released({ key }: Entry): void {
    this.#lifetime.release(key);
    this.#lifetime.settle();
    if (this.#lifetime.isFull) this.#syncs.freeSlots();
  }

  close(): void {
    this.#store.close();
    this.#lifetime.close();
  }

  #fileOf(own: OwnFile): TreeFile {
    let file = this.#files.get(own);
    if (file === undefined) {
      file = new TreeFile(own, this.#numbers, this.#top.layer, true);
      this.#files.set(own, file);
    }
    return file;
  }

  /** Whether the contents are small afterwards. Small ones that others have, too, are written whole to another slot. */
  #writesSmall(file: TreeFile, offset: number, data: Buffer): boolean {
    const size = Math.max(file.size, offset + data.length);
    if (this.#top.isFrozen(file)) {
      if (size <= SMALL) {
        this.#store.slots.put(file, this.#copied(file, size, offset, data));
        return true;
      }
      this.#takeOver(file);
    }
    return this.#store.slots.write(file, offset, data);
  }

  #truncatesSmall(file: TreeFile, size: number): boolean {
    if (this.#top.isFrozen(file)) {
      if (size <= SMALL) {
        this.#store.slots.put(file, this.#copied(file, size));
        return true;
      }
      this.#takeOver(file);
    }
    return this.#store.slots.truncate(file, size);
  }

  /** The contents with another size, and with these bytes. */
  #copied({ own: { entry } }: TreeFile, size: number, offset = 0, data = NO_DATA): Buffer {
    const bytes = Buffer.alloc(size);
    this.#reads.read(entry, 0, bytes.subarray(0, Math.min(size, entry.size)));
    data.copy(bytes, offset);
    return bytes;
  }

  /** Copies contents that others have, too. Throws Postponed while another thread copies large ones. */
  #takeOver(file: TreeFile): void {
    const { entry } = file.own;
    if (entry.size <= SMALL) {
      this.#store.slots.put(file, this.#copied(file, entry.size));
      return;
    }
    this.#place(file, (to) => this.#reads.useLarge(entry, (fd) => this.#store.putFile(fd, to)));
  }

  /** The data file, for writing; it is made for an empty file. A record says that it may be written. */
  #writable(file: TreeFile): number {
    if (!file.hasFile) this.#place(file, (to) => this.#create(to));
    const ref = file.requireData();
    if (!file.isOpen || file.writableName === '') file.writableName = writableName(ref);
    const fd = this.#in.descriptors.of(file.writableName, () => this.#dataFiles.open(ref, false));
    if (file.isOpen) return fd;
    this.#records.opened(file);
    // What a loss of power has left behind the end must not appear when the file grows.
    if (statData(fd).size > file.size) truncateFile(fd, file.size);
    return fd;
  }

  #create(to: DataRef): DataStat | undefined {
    const fd = this.#dataFiles.open(to, true);
    this.#in.descriptors.of(writableName(to), () => fd);
    return undefined;
  }

  /** Gives a file a new data file, which `make` makes. */
  #place(file: TreeFile, make: (to: DataRef) => DataStat | undefined): void {
    const to = { layer: this.#top.layer, id: file.id, slot: NO_SLOT };
    const stat = make(to);
    try {
      this.#records.placed(file, to, stat);
    } catch (error) {
      this.#lifetime.remove(to);
      throw error;
    }
    file.hasFile = true;
    this.#store.assign(file);
  }

  #wrote(file: TreeFile, size: number, holes: number): void {
    dataWritten(this.#in.tree, file.own, { size, holes: holes || undefined }, this.#in.now());
    this.#store.markUnsynced(file);
    file.isMeasured = false;
  }
}

function isShared(key: Key, mayChange: (key: Key) => boolean): boolean {
  return kindOf(key) !== KIND.none && !mayChange(key);
}
