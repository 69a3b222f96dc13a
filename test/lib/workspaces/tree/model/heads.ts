import { fromLatin1, splitPath } from '../../../../../lib/byte-string.ts';
import { Comparison } from '../../../../../lib/trees/algebra/comparison.ts';
import { follow } from '../../../../../lib/trees/algebra/follow.ts';
import { entriesOf } from '../../../../../lib/trees/directory/entries.ts';
import { childOf } from '../../../../../lib/trees/directory/find-entry.ts';
import { patchDirectory } from '../../../../../lib/trees/directory/patch-directory.ts';
import { type DirectoryEntry, type Entry, isDirectory, named } from '../../../../../lib/trees/format/entry.ts';
import { isLocal, type Key, NO_KEY } from '../../../../../lib/trees/format/keys.ts';
import { rebase, swap, take } from '../../../../../lib/workspaces/tree/exchange/follow-head.ts';
import { HeadMove } from '../../../../../lib/workspaces/tree/exchange/head-move.ts';
import { type Item, OwnDirectory, OwnFile } from '../../../../../lib/workspaces/tree/items.ts';
import type { Root } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { entryAt } from '../../../trees/edit.ts';
import { keyOfBytes } from '../../../trees/memory.ts';
import { fileEntry, type Random } from '../../../trees/random.ts';
import { type Flat, flatOf, flatten, type Seen, show } from '../flat.ts';
import { type Oracle, parentOf } from './oracle.ts';
import { check, same, type World } from './world.ts';

interface Checkpoint {
  readonly mine: DirectoryEntry;
  readonly base: Root;
}

/** What comes from outside: moves of head, commits, rollbacks. */
export class Heads {
  readonly #world: World;
  readonly #oracle: Oracle;
  readonly #random: Random;
  readonly #log: (line: string) => void;
  readonly #edit: () => void;
  #checkpoints: Checkpoint[] = [];
  #contents = 0;

  constructor(world: World, oracle: Oracle, random: Random, log: (line: string) => void, edit: () => void) {
    this.#world = world;
    this.#oracle = oracle;
    this.#random = random;
    this.#log = log;
    this.#edit = edit;
  }

  step(op: number, now: number): void {
    if (op < 28) this.#moveHead(now);
    else if (op < 29) this.#commit();
    else if (this.#random(2)) this.#rollback(now);
    else this.#checkpoint();
  }

  #moveHead(now: number): void {
    this.#upload(now);
    if (!this.#take()) this.#followFrozen();
  }

  #upload(now: number): void {
    let head: Entry = this.#world.head.base;
    for (let times = this.#random(3); times >= 0; times--) head = this.#uploaded(head, now);
    this.#world.head = { version: this.#world.head.version + 1, base: head as DirectoryEntry };
  }

  #take(): boolean {
    const { live } = this.#world;
    const { version, base } = this.#world.head;
    const before = flatOf(live);
    const [patched, from] = [live.counters.patched, live.base];
    const mine = this.#copy(live.root);
    const expected = this.#follow(from.base, mine, base);
    const move = new HeadMove(this.#world.memory, from.base, base);
    this.#waits(() => take(live, move, version));
    if (take(live, move, version)) {
      this.#log(`take ${version}`);
      same(flatOf(live), flatten(this.#world.memory, expected.m), 'take is not follow');
      same(flatten(this.#world.memory, expected.b), flatten(this.#world.memory, base), 'base lags');
      this.#oracle.reset(flatOf(live));
      return true;
    }
    this.#log(`take ${version} refused`);
    same(flatOf(live), before, 'a take that was refused changed something');
    check(live.counters.patched === patched && live.base === from, 'a take that was refused left something');
    return false;
  }

  /** Until the last freeze is durable nothing is exchanged. */
  #waits(exchange: () => void): void {
    const { live } = this.#world;
    if (!live.journal.isRooted) {
      const [before, { base }] = [flatOf(live), live];
      let refused = false;
      try {
        exchange();
      } catch {
        refused = live.base === base;
      }
      check(refused, 'trees are exchanged while a crash may bring back the one of before');
      same(flatOf(live), before, 'an exchange that was too early changed something');
    }
    this.#world.becomesDurable();
  }

  /** The tree is frozen, followed, and swapped, while programs go on. */
  #followFrozen(): void {
    const { live, head, memory } = this.#world;
    this.#world.freeze(false);
    const frozen = live.frozen;
    const { b, m } = this.#follow(live.base.base, frozen, head.base);
    check(hasAllLinks(flatten(memory, m)), 'follow counts links wrong');
    this.#swap(frozen, m, { version: head.version, base: b });
  }

  /** All that the sandbox has becomes head's; its contents are in the codebase's store then. */
  #commit(): void {
    const { live, head, memory } = this.#world;
    this.#log('commit');
    this.#world.freeze(true);
    const frozen = live.frozen;
    const mine = this.#mapped(frozen, (entry) =>
      isLocal(entry.key) ? { ...entry, key: keyOfBytes(entry.key) } : entry,
    );
    const base = this.#published(mine, head.base);
    this.#world.head = { version: head.version + 1, base };
    if (this.#swap(frozen, mine, this.#world.head)) return;
    rebase(live, this.#world.head);
    check(flatten(memory, live.base.base).size === flatten(memory, base).size, 'base is what was committed');
  }

  #checkpoint(): void {
    this.#log('checkpoint');
    this.#world.freeze(true);
    this.#checkpoints.push({ mine: this.#world.live.frozen, base: this.#world.live.base });
  }

  #rollback(now: number): void {
    const checkpoint = this.#checkpoints[this.#random(Math.max(1, this.#checkpoints.length))];
    if (checkpoint === undefined) return;
    this.#log('rollback');
    const { live, memory } = this.#world;
    this.#world.freeze(false);
    const { frozen, base } = live;
    this.#world.becomesDurable();
    if (this.#random(2)) {
      // Head moves just then. The answer must not depend on what is own: a replay has only what has changed.
      this.#ownSome();
      this.#upload(now);
      this.#take();
      this.#swap(frozen, checkpoint.mine, checkpoint.base);
      return;
    }
    check(swap(live, frozen.key, checkpoint.mine, checkpoint.base), 'a rollback is refused');
    if (this.#random(2)) {
      check(swap(live, checkpoint.mine.key, frozen, base), 'a rollback cannot be undone');
      return;
    }
    const expected = flatten(memory, checkpoint.mine);
    same(flatOf(live), expected, 'a rollback makes another tree');
    this.#oracle.reset(expected);
  }

  /** As changes do that failed. */
  #ownSome(): void {
    for (const path of this.#oracle.paths)
      if (this.#oracle.isDirectory(path) && this.#random(2)) this.#world.live.ownAt(splitPath(fromLatin1(path)));
  }

  /** After some changes; what they changed stays, and the rest is that of `to`. */
  #swap(from: DirectoryEntry, to: DirectoryEntry, root: Root): boolean {
    const { live, memory } = this.#world;
    for (let times = this.#random(4); times > 0; times--) this.#edit();
    this.#waits(() => swap(live, from.key, to, root));
    const [now, was, then] = [flatOf(live), flatten(memory, from), flatten(memory, to)];
    const { base } = live;
    if (swap(live, from.key, to, root)) {
      this.#log('swap');
      same(flatOf(live), merged(was, now, then), 'a swap makes another tree');
      this.#oracle.reset(flatOf(live));
      return true;
    }
    this.#log('swap refused');
    same(flatOf(live), now, 'a swap that was refused changed something');
    check(live.base === base, 'a swap that was refused moved base');
    return false;
  }

  #follow(base: Entry, mine: Entry, head: Entry): { b: DirectoryEntry; m: DirectoryEntry } {
    const { memory } = this.#world;
    const comparison = new Comparison(memory, () => undefined);
    const options = { comparison, sink: memory.placed, next: () => this.#world.ino() };
    const { b, m } = follow(options, { base, mine, head });
    return { b: b as DirectoryEntry, m: m as DirectoryEntry };
  }

  #uploaded(head: Entry, now: number): Entry {
    const world = this.#world;
    const paths = [...flatten(world.memory, head).keys(), ...this.#oracle.paths].filter((path) => path !== '');
    const known = paths[this.#random(paths.length)] ?? 'a';
    const path = this.#random(4) ? known : `${known}/${'abcd'[this.#random(4)]}`;
    const there = entryAt(world.memory, head, path);
    if (!isDirectory(entryAt(world.memory, head, parentOf(path)))) return head;
    this.#log(`  upload ${path}`);
    const times = { mtime: now, ctime: now };
    const op = this.#random(6);
    if (op === 0) return world.with(head, path, undefined);
    if (isDirectory(there)) return world.with(head, path, { ...there, ...times, mode: op < 3 ? 0o700 : there.mode });
    if (op === 1 && there === undefined) return world.with(head, path, { ...world.directory(), ...times });
    return world.with(head, path, fileEntry('', `head ${this.#contents++}`, { ino: world.ino(), ...times }));
  }

  /** A frozen tree with what a live one has, made without it. */
  #copy(item: Item): Entry {
    if (item instanceof OwnFile) return item.entry;
    if (!(item instanceof OwnDirectory)) return item;
    const below = new Map<Entry['name'], Entry>();
    const { memory } = this.#world;
    for (const entry of entriesOf(memory, item.entry.key)) below.set(entry.name, entry);
    for (const [name, each] of item.patch)
      if (each === null) below.delete(name);
      else below.set(name, named(this.#copy(each), name));
    return { ...item.entry, ...this.#listed(below) };
  }

  /** Head gives a number to one file at one path: what it did not have there gets another one. */
  #published(mine: DirectoryEntry, head: Entry | undefined): DirectoryEntry {
    const below = new Map<Entry['name'], Entry>();
    for (const each of entriesOf(this.#world.memory, mine.key)) {
      const before = childOf(this.#world.memory, head, each.name);
      if (isDirectory(each)) below.set(each.name, this.#published(each, before));
      else below.set(each.name, { ...each, ino: this.#number(each, before), nlink: 1, agentText: false });
    }
    return { ...mine, ino: this.#number(mine, head), ...this.#listed(below, true) };
  }

  #number({ ino }: Entry, head: Entry | undefined): number {
    return ino === head?.ino ? ino : this.#world.ino();
  }

  #mapped(entry: DirectoryEntry, map: (entry: Entry) => Entry): DirectoryEntry {
    const below = new Map<Entry['name'], Entry>();
    for (const each of entriesOf(this.#world.memory, entry.key))
      below.set(each.name, isDirectory(each) ? this.#mapped(each, map) : map(each));
    return { ...entry, ...this.#listed(below, true) };
  }

  #listed(
    below: Map<Entry['name'], Entry>,
    hashed = false,
  ): { key: Key; size: number; totals: DirectoryEntry['totals'] } {
    const { memory } = this.#world;
    const sorted = [...below].sort(([a], [b]) => (a < b ? -1 : 1));
    return patchDirectory(memory, hashed ? memory.hashed : memory.placed, NO_KEY, sorted);
  }
}

function hasAllLinks(flat: Flat): boolean {
  const names = new Map<number, number>();
  for (const { ino } of flat.values()) names.set(ino, (names.get(ino) ?? 0) + 1);
  return [...flat.values()].every(({ ino, nlink }) => nlink === 1 || nlink === names.get(ino));
}

/** By paths: what changed since stays; of a directory each attribute for itself. */
function merged(was: Flat, now: Flat, then: Flat): Map<string, Seen> {
  const result = new Map<string, Seen>();
  for (const path of new Set([...was.keys(), ...now.keys(), ...then.keys()])) {
    const [w, n, t] = [was.get(path), now.get(path), then.get(path)];
    const directories = [w, n, t].every((each) => each?.contents === '' && each.type === 2);
    const chosen = directories ? mergedAttributes(w!, n!, t!) : show(w) === show(n) ? t : n;
    if (chosen !== undefined) result.set(path, chosen);
  }
  for (const [path, seen] of result) if (seen.type === 2) result.set(path, { ...seen, size: sizeOf(result, path) });
  return result;
}

function mergedAttributes(w: Seen, n: Seen, t: Seen): Seen {
  const pick = <Field extends keyof Seen>(field: Field): Seen[Field] => (n[field] === w[field] ? t[field] : n[field]);
  return { ...n, mode: pick('mode'), ino: pick('ino'), mtime: pick('mtime'), ctime: pick('ctime') };
}

function sizeOf(flat: Flat, path: string): number {
  return [...flat.keys()].filter((each) => each !== '' && parentOf(each) === path).length;
}
