import type { Choice } from '../../../../lib/trees/algebra/choice.ts';
import { commit } from '../../../../lib/trees/algebra/commit.ts';
import type { Committed, OnConflict } from '../../../../lib/trees/algebra/commit-options.ts';
import { Comparison } from '../../../../lib/trees/algebra/comparison.ts';
import { countLinks } from '../../../../lib/trees/algebra/count-links.ts';
import { discard } from '../../../../lib/trees/algebra/discard.ts';
import { follow } from '../../../../lib/trees/algebra/follow.ts';
import { restore } from '../../../../lib/trees/algebra/restore.ts';
import { wants } from '../../../../lib/trees/algebra/wants.ts';
import type { Sink } from '../../../../lib/trees/directory/source.ts';
import { type Entry, TYPE } from '../../../../lib/trees/format/entry.ts';
import { isLocal, type Key, slotKey } from '../../../../lib/trees/format/keys.ts';
import { entryAt, withEntry } from '../edit.ts';
import { keyOfBytes, Memory } from '../memory.ts';
import { directoryEntry, fileEntry } from '../random.ts';
import { type Flat, flatten } from './flat.ts';
import { entriesBelow } from './numbers.ts';

/** What a sandbox has, and what it saw at the paths that it has changed when it changed them first. */
export interface Workspace {
  b: Entry;
  m: Entry;
  seen: Map<string, string | undefined>;
  checkpoints: { b: Entry; m: Entry; seen: Map<string, string | undefined> }[];
}

/** A codebase and three sandboxes on it. */
export class World {
  readonly memory = new Memory();
  head: Entry;
  readonly workspaces: Workspace[];
  #ino = 100;
  /** The sandboxes that alone have a number. */
  readonly #owners = new Map<number, Workspace>();
  #slot = 0;
  /** Hashes of contents in slots: of all, and of those that were read. */
  readonly #contents = new Map<Key, Key>();
  readonly #read = new Map<Key, Key>();

  constructor() {
    this.head = this.directory();
    const { head } = this;
    this.workspaces = Array.from({ length: 3 }, () => ({ b: head, m: head, seen: new Map(), checkpoints: [] }));
  }

  /** Of the codebase, whose contents have hashes. */
  file(contents: number): Entry {
    return fileEntry('', 'x', { ino: this.#ino++, key: keyOfBytes(String(contents)) });
  }

  /** Of a sandbox, whose contents are in a slot: they must be read to be compared. */
  written(w: Workspace, contents: number, mode: number): Entry {
    const key = slotKey({ store: 7n, class: 0, slot: this.#slot++, sequence: 0, birth: 0, crc: 0 });
    this.#contents.set(key, keyOfBytes(String(contents)));
    this.#owners.set(this.#ino, w);
    return { ...this.file(contents), mode, key };
  }

  directory(w?: Workspace): Entry {
    if (w) this.#owners.set(this.#ino, w);
    return directoryEntry('', { ino: this.#ino++ });
  }

  /** At a checkpoint, a fork or a commit: from now on others may have the numbers of the sandbox, too. */
  share(w: Workspace): void {
    for (const [ino, owner] of this.#owners) if (owner === w) this.#owners.delete(ino);
  }

  at(tree: Entry, path: string): Entry | undefined {
    return entryAt(this.memory, tree, path);
  }

  with(tree: Entry, path: string, entry: Entry | undefined, sink: Sink = this.memory.placed): Entry {
    return withEntry(this.memory, sink, tree, path, entry);
  }

  flat(tree: Entry | undefined): Flat {
    return flatten(this.memory, tree, (key) => this.#hashOf(key));
  }

  /** With the hashes of what is wanted for these trees, and no others. */
  comparison(b: Entry | undefined, m: Entry | undefined, h: Entry | undefined): Comparison {
    const comparison = new Comparison(this.memory, (key) => this.#read.get(key));
    for (const key of wants(comparison, b, m, h).keys()) this.#read.set(key, this.#hashOf(key));
    return comparison;
  }

  follow(b: Entry, m: Entry, h: Entry = this.head): { b: Entry; m: Entry } {
    const options = { comparison: this.comparison(b, m, h), sink: this.memory.placed, next: this.#next };
    const result = follow(options, { base: b, mine: m, head: h });
    return { b: result.b!, m: result.m! };
  }

  commit(w: Workspace, choice: Choice, onConflict: OnConflict): Committed {
    const { b, m } = w;
    const publish = (_: string, entry: Entry) =>
      entry.type === TYPE.file ? { ...entry, key: this.#hashOf(entry.key) } : entry;
    const { placed: own, hashed: published } = this.memory;
    const comparison = this.comparison(b, m, this.head);
    const numbers = { next: this.#next, isOwn: (ino: number) => this.#owners.get(ino) === w };
    const options = { comparison, choice, onConflict, own, published, publish, numbers, time: { s: 1, ns: 0 } };
    const result = commit(options, { base: b, mine: m, head: this.head });
    if (result.outcome === 'committed') this.share(w);
    return result;
  }

  discard({ b, m }: Workspace, choice: Choice): { b: Entry; m: Entry } {
    const comparison = this.comparison(b, m, this.head);
    const options = { comparison, sink: this.memory.placed, next: this.#next };
    const result = discard(options, choice, { base: b, mine: m, head: this.head });
    return { b: result.b!, m: result.m! };
  }

  restore(choice: Choice, version: Entry): Entry {
    const comparison = this.comparison(version, version, this.head);
    return restore({ comparison, sink: this.memory.hashed, choice, next: this.#next }, this.head, version)!;
  }

  /** What an upload makes of head. */
  upload(head: Entry): void {
    this.head = countLinks(this.comparison(undefined, undefined, undefined), this.memory.hashed, this.head, head)!;
  }

  /** The tree with other attributes of the file or directory at a path: at all names that it has. */
  changed(tree: Entry, path: string, attributes: Partial<Entry>): Entry {
    const { ino } = this.at(tree, path)!;
    const names = entriesBelow(this.memory, tree).filter(([, entry]) => entry.ino === ino);
    return names.reduce((now, [name, entry]) => this.with(now, name, { ...entry, ...attributes }), tree);
  }

  same(a: Entry | undefined, b: Entry | undefined): boolean {
    return this.comparison(a, b, a).same(a, b);
  }

  readonly #next = () => this.#ino++;

  #hashOf(key: Key): Key {
    return isLocal(key) ? this.#contents.get(key)! : key;
  }
}
