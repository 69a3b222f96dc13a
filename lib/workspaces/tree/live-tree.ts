import type { ByteString } from '../../byte-string.ts';
import { ENOENT, ENOTDIR } from '../../linux/errno.ts';
import { findEntry } from '../../trees/directory/find-entry.ts';
import type { Source } from '../../trees/directory/source.ts';
import type { DirectoryEntry } from '../../trees/format/entry.ts';
import type { Totals } from '../../trees/format/totals.ts';
import { Counters } from './counters.ts';
import type { Epochs } from './epochs.ts';
import { findIn } from './found.ts';
import { type Directory, type Item, isDirectoryItem, OwnDirectory, type OwnFile } from './items.ts';
import { Numbering } from './journal/numbering.ts';
import type { Id, Journal, JournalRecord, Link, Root } from './journal/records.ts';
import { FREEZE_AT } from './limits.ts';
import { LinkPaths } from './link-paths.ts';
import { Place } from './place.ts';
import { Unlinked } from './unlinked.ts';

export interface TreeState {
  readonly source: Source;
  /** The entry of the root when it was frozen; the journal continues it. */
  readonly frozen: DirectoryEntry;
  readonly base: Root;
  readonly journal: Journal;
  readonly epochs: Epochs;
}

/**
 * The tree of a running workspace: a frozen one, and what has changed since as patches in memory. Each change reads all that
 * it needs, then appends one record, then cannot fail. So it happens completely or not at all, and the journal has it first.
 * The changes are functions beside this class.
 */
export class LiveTree {
  readonly source: Source;
  readonly counters: Counters;
  readonly numbering = new Numbering();
  readonly unlinked = new Unlinked();
  readonly linkPaths: LinkPaths;
  readonly epochs: Epochs;
  root: OwnDirectory;
  /** The tree below the patches, if head has not moved since. */
  frozen: DirectoryEntry;
  hasTaken = false;
  base: Root;
  journal: Journal;
  /** Another number whenever items of before may not be those of the tree any more. */
  generation = 0;
  #unrecorded: JournalRecord[] = [];

  constructor({ source, frozen, base, journal, epochs }: TreeState) {
    this.source = source;
    this.root = new OwnDirectory(frozen, null, frozen.name);
    this.frozen = frozen;
    this.base = base;
    this.journal = journal;
    this.epochs = epochs;
    this.counters = new Counters(frozen.totals);
    this.linkPaths = new LinkPaths(source);
    this.numbering.begin(this.root);
  }

  /** What the workspace has, without what is open only. `longest` is not in it; see `longestBelow`. */
  get totals(): Readonly<Totals> {
    return this.counters.totals;
  }

  /** As `freeze` does: another tree without patches, and another journal. */
  begin(frozen: DirectoryEntry, journal: Journal): void {
    this.root = new OwnDirectory(frozen, null, frozen.name);
    this.frozen = frozen;
    this.hasTaken = false;
    this.journal = journal;
    this.counters.begin(frozen.totals);
    this.numbering.begin(this.root);
    this.generation++;
  }

  get isFreezeDue(): boolean {
    const { patched, objectBytes } = this.counters;
    if (patched >= FREEZE_AT.patched || objectBytes >= FREEZE_AT.objectBytes) return true;
    return this.journal.bytes >= FREEZE_AT.journalBytes || this.#unrecorded.length >= FREEZE_AT.unrecorded;
  }

  lookup(directory: Directory, name: ByteString): Item | undefined {
    if (!(directory instanceof OwnDirectory)) return findEntry(this.source, directory.key, name);
    const own = directory.patch.get(name);
    return own === undefined ? findEntry(this.source, directory.entry.key, name) : (own ?? undefined);
  }

  place(dir: OwnDirectory, name: ByteString): Place {
    return new Place(this.counters, dir, name, findIn(this.source, dir.entry.key, name));
  }

  /** A directory of an own one, which is own itself from now on. Nothing that can be seen changes. */
  own(parent: OwnDirectory, name: ByteString): OwnDirectory {
    const known = parent.patch.get(name);
    if (known instanceof OwnDirectory) return known;
    const place = this.place(parent, name);
    const { item } = place;
    if (item === undefined) throw ENOENT;
    if (item instanceof OwnDirectory || !isDirectoryItem(item)) throw ENOTDIR;
    const dir = new OwnDirectory(item, parent, name);
    place.set(dir);
    return dir;
  }

  ownAt(names: readonly ByteString[]): OwnDirectory {
    let dir = this.root;
    for (const name of names) dir = this.own(dir, name);
    return dir;
  }

  /** The number of a directory in the journal, which gets to know those on the way to it. */
  idOf(dir: OwnDirectory, makesRoom: boolean): Id {
    const unknown: OwnDirectory[] = [];
    for (let at = dir; this.numbering.of(at) === undefined; at = at.parent) {
      if (at.parent === null) throw new Error('a directory that is not in the tree any more cannot change');
      unknown.push(at);
    }
    for (const next of unknown.reverse()) {
      this.append({ op: 'own', at: [this.numbering.of(next.parent!)!, next.name] }, makesRoom);
      this.numbering.give(next);
    }
    return this.numbering.of(dir)!;
  }

  linkTo({ dir, name }: { dir: OwnDirectory; name: ByteString }, makesRoom: boolean): Link {
    return [this.idOf(dir, makesRoom), name];
  }

  /** Of a file with names. */
  fileId(file: OwnFile, makesRoom: boolean): Id {
    if (this.numbering.of(file) === undefined) {
      const links = file.names.map((name) => this.linkTo(name, makesRoom));
      this.append({ op: 'thaw', links }, makesRoom);
      this.numbering.give(file);
    }
    return this.numbering.of(file)!;
  }

  append(record: JournalRecord, makesRoom: boolean): void {
    this.record(makesRoom);
    this.journal.append(record, makesRoom);
  }

  /**
   * Base has moved and the sandbox with it: an idle one writes nothing. It is recorded before the next change, which may be
   * based on it. `clean`: there was no change before either.
   */
  recordLater(root: Root, clean: boolean): void {
    this.base = root;
    if (clean) this.#unrecorded = [];
    this.#unrecorded.push({ op: 'base', takes: true, ...root });
  }

  /** What waits to be recorded. */
  get unrecorded(): readonly JournalRecord[] {
    return this.#unrecorded;
  }

  /** What waits, before a freeze, too: the journal must not be behind the frozen tree. */
  record(makesRoom: boolean): void {
    for (let next = this.#unrecorded[0]; next !== undefined; next = this.#unrecorded[0]) {
      this.journal.append(next, makesRoom);
      this.#unrecorded.shift();
    }
  }
}
