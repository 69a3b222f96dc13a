import type { Choice } from '../../../../lib/trees/algebra/choice.ts';
import { commit } from '../../../../lib/trees/algebra/commit.ts';
import type { Committed, OnConflict } from '../../../../lib/trees/algebra/commit-options.ts';
import { Comparison } from '../../../../lib/trees/algebra/comparison.ts';
import { diff } from '../../../../lib/trees/algebra/diff.ts';
import { discard } from '../../../../lib/trees/algebra/discard.ts';
import { follow } from '../../../../lib/trees/algebra/follow.ts';
import { wants } from '../../../../lib/trees/algebra/wants.ts';
import type { Sink } from '../../../../lib/trees/directory/source.ts';
import { type Entry, TYPE } from '../../../../lib/trees/format/entry.ts';
import { isLocal, type Key, slotKey } from '../../../../lib/trees/format/keys.ts';
import { entryAt, withEntry } from '../edit.ts';
import { keyOfBytes, Memory } from '../memory.ts';
import { directoryEntry, fileEntry } from '../random.ts';
import { type Flat, flatten } from './flat.ts';

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

  directory(): Entry {
    return directoryEntry('', { ino: this.#ino++ });
  }

  /** At a checkpoint or a fork: from now on others may have the numbers of the sandbox, too. */
  share(w: Workspace): void {
    for (const [ino, owner] of this.#owners) if (owner === w) this.#owners.delete(ino);
  }

  /** A number that two entries have. */
  twice(tree: Entry): number | undefined {
    const seen = new Set<number>();
    for (const { after } of diff(this.comparison(undefined, undefined, undefined), undefined, tree)) {
      if (seen.has(after!.ino)) return after!.ino;
      seen.add(after!.ino);
    }
    return undefined;
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
    for (const key of wants(comparison, b, m, h)) this.#read.set(key, this.#hashOf(key));
    return comparison;
  }

  follow(b: Entry, m: Entry, h: Entry = this.head): { b: Entry; m: Entry } {
    const result = follow(this.comparison(b, m, h), this.memory.placed, b, m, h);
    return { b: result.b!, m: result.m! };
  }

  commit(w: Workspace, choice: Choice, onConflict: OnConflict): Committed {
    const { b, m } = w;
    const publish = (_: string, entry: Entry) =>
      entry.type === TYPE.file ? { ...entry, key: this.#hashOf(entry.key) } : entry;
    const { placed: own, hashed: published } = this.memory;
    const comparison = this.comparison(b, m, this.head);
    const numbers = { next: () => this.#ino++, isOwn: (ino: number) => this.#owners.get(ino) === w };
    const options = { comparison, choice, onConflict, own, published, publish, numbers, time: { s: 1, ns: 0 } };
    return commit(options, { base: b, mine: m, head: this.head });
  }

  discard({ b, m }: Workspace, choice: Choice): { b: Entry; m: Entry } {
    const result = discard(this.comparison(b, m, this.head), this.memory.placed, choice, b, m, this.head);
    return { b: result.b!, m: result.m! };
  }

  same(a: Entry | undefined, b: Entry | undefined): boolean {
    return this.comparison(a, b, a).same(a, b);
  }

  #hashOf(key: Key): Key {
    return isLocal(key) ? this.#contents.get(key)! : key;
  }
}
