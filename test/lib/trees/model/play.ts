import { Blocked } from '../../../../lib/trees/algebra/blocked.ts';
import { type Entry, isDirectory } from '../../../../lib/trees/format/entry.ts';
import { type Random, seeded } from '../random.ts';
import { check, checkCommitted, checkFollowed, checkValid, type FlatTrees } from './checks.ts';
import { chosen } from './chosen.ts';
import { isBelow, isDirectoryAt, isFileAt, parentOf, parentsOf, pathsOf, show } from './flat.ts';
import { checkKept, checkNumbers, counted, GivenNumbers } from './numbers.ts';
import { type Workspace, World } from './world.ts';

const NAMES = ['a', 'b', 'c'];
const FLIPS = [0o22, 0o44, 0o11];

/** One random sequence of what sandboxes and their codebase can do. Throws an error that names the invariant that broke. */
export function play(seed: number, steps: number, log: (line: string) => void = () => {}): void {
  const game = new Game(seed, log);
  for (let step = 0; step < steps; step++) {
    game.step();
    game.check();
  }
}

class Game {
  readonly #world = new World();
  readonly #random: Random;
  readonly #log: (line: string) => void;
  readonly #given = new GivenNumbers();
  readonly #versions: Entry[] = [];
  #contents = 0;

  constructor(seed: number, log: (line: string) => void) {
    this.#random = seeded(seed);
    this.#log = log;
    for (let times = 0; times < 12; times++) this.#upload();
  }

  step(): void {
    const random = this.#random;
    const w = this.#world.workspaces[random(3)]!;
    const op = random(25);
    if (op < 13) this.#edit(w, op);
    else if (op === 23) this.#edit(w, op);
    else if (op === 24) this.#restore();
    else if (op < 14) this.#upload();
    else if (op < 17) this.#commit(w);
    else if (op < 18) this.#discard(w);
    else if (op < 19) this.#checkpoint(w);
    else if (op < 20) this.#fork(w);
    else this.#upload();
  }

  check(): void {
    const { memory, workspaces, head } = this.#world;
    checkNumbers(memory, head, 'head');
    this.#given.check(memory, head, this.#world.flat(head));
    for (const [number, { m }] of workspaces.entries()) checkNumbers(memory, m, `sandbox ${number}`);
  }

  #path(): string {
    const length = [1, 2, 2, 3, 3][this.#random(5)]!;
    return Array.from({ length }, () => NAMES[this.#random(3)]!).join('/');
  }

  /** Any of a tree but the root; `a` if there is none. */
  #directory(tree: Entry): string {
    const flat = this.#world.flat(tree);
    const directories = [...flat.keys()].filter((path) => path !== '' && isDirectoryAt(flat, path));
    return directories[this.#random(directories.length || 1)] ?? 'a';
  }

  /** New ones, or some that others have, too. */
  #anyContents(): number {
    return this.#random(3) ? ++this.#contents : this.#random(3) - 10;
  }

  #edit(w: Workspace, op: number): void {
    const change = this.#change(w, op);
    if (change !== undefined) this.#changeMine(w, change);
  }

  #change(w: Workspace, op: number): ((m: Entry) => Entry) | undefined {
    const world = this.#world;
    const [random, path] = [this.#random, this.#path()];
    const [had, parent] = [world.at(w.m, path), world.at(w.m, parentOf(path))];
    this.#log(`${op} ${world.workspaces.indexOf(w)} ${path}`);
    if (op < 6) {
      if (!isDirectory(parent) || isDirectory(had)) return undefined;
      const file = world.written(w, this.#anyContents(), random(5) ? 0o644 : 0o755);
      if (had && random(2)) return (m) => world.changed(m, path, { key: file.key, size: file.size });
      return (m) => world.with(m, path, file);
    }
    if (op < 8) return isDirectory(parent) && !had ? (m) => world.with(m, path, world.directory(w)) : undefined;
    if (op < 10) return had ? (m) => world.with(m, path, undefined) : undefined;
    if (op < 11) {
      const to = random(3) ? this.#directory(w.m) : path;
      const entry = world.at(w.m, to);
      return entry && ((m) => world.changed(m, to, { mode: entry.mode ^ FLIPS[random(3)]! }));
    }
    const to = this.#path();
    if (!had || path === to || isBelow(path, to) || isBelow(to, path)) return undefined;
    if (!isDirectory(world.at(w.m, parentOf(to)))) return undefined;
    this.#log(`  to ${to}`);
    if (op === 23) return isDirectory(had) || world.at(w.m, to) ? undefined : (m) => world.with(m, to, had);
    return (m) => world.with(world.with(m, path, undefined), to, had);
  }

  #changeMine(w: Workspace, change: (m: Entry) => Entry): void {
    const [before, base] = [this.#world.flat(w.m), this.#world.flat(w.b)];
    w.m = counted(this.#world.memory, this.#world.memory.placed, change(w.m));
    const after = this.#world.flat(w.m);
    for (const path of pathsOf(before, after))
      if (before.get(path) !== after.get(path) && !w.seen.has(path)) w.seen.set(path, base.get(path));
    this.#forget(w);
  }

  /** Nothing is remembered where nothing is changed. */
  #forget(w: Workspace): void {
    const [b, m] = [this.#world.flat(w.b), this.#world.flat(w.m)];
    for (const path of [...w.seen.keys()]) if (b.get(path) === m.get(path)) w.seen.delete(path);
  }

  #flats(w: Workspace): FlatTrees {
    return { b: this.#world.flat(w.b), m: this.#world.flat(w.m), h: this.#world.flat(this.#world.head) };
  }

  #upload(): void {
    const world = this.#world;
    const path = this.#path();
    if (this.#random(4) === 0) this.#versions.push(world.head);
    if (this.#random(4) === 0) {
      const directory = this.#directory(world.head);
      const there = world.at(world.head, directory);
      if (isDirectory(there))
        this.#put({ [directory]: { ...there, mode: there.mode ^ FLIPS[this.#random(3)]! } }, 'mode');
      return;
    }
    const file = this.#random(3) ? world.file(++this.#contents) : undefined;
    const other = this.#path();
    if (file && !this.#random(4) && !isBelow(path, other) && !isBelow(other, path) && path !== other)
      this.#put({ [path]: { ...file, nlink: 2 }, [other]: { ...file, nlink: 2 } }, 'links');
    else this.#put({ [path]: file }, file ? 'file' : 'removed');
  }

  /** Not if a file is where a directory is needed. */
  #put(entries: Record<string, Entry | undefined>, what: string): void {
    const world = this.#world;
    let now = world.head;
    for (const [path, entry] of Object.entries(entries)) {
      for (const parent of parentsOf(path).reverse()) {
        const there = world.at(now, parent);
        if (there === undefined && entry) now = world.with(now, parent, world.directory(), world.memory.hashed);
        else if (!isDirectory(there)) return;
      }
      now = world.with(now, path, entry, world.memory.hashed);
    }
    world.upload(now);
    this.#log(`upload ${Object.keys(entries)} ${what}`);
    this.#followAll();
  }

  #restore(): void {
    const world = this.#world;
    const version = this.#versions[this.#random(this.#versions.length)];
    if (version === undefined) return;
    const paths = this.#random(3) ? [this.#path(), this.#path()] : [''];
    try {
      world.head = world.restore(chosen(paths), version);
    } catch (error) {
      if (!(error instanceof Blocked)) throw error;
    }
    this.#log(`restore ${paths}`);
    this.#followAll();
  }

  #followAll(): void {
    for (const w of this.#world.workspaces) this.#follow(w);
  }

  #follow(w: Workspace): void {
    const world = this.#world;
    const before = this.#flats(w);
    const now = world.follow(w.b, w.m);
    const flat = { b: world.flat(now.b), m: world.flat(now.m) };
    checkFollowed(before, flat);
    checkKept(
      world.memory,
      w.m,
      now.m,
      (path) => isFileAt(before.m, path) && before.b.get(path) !== before.m.get(path),
    );
    const again = world.follow(now.b, now.m);
    check(world.same(again.b, now.b) && world.same(again.m, now.m), () => 'I7: a second follow changes something');
    const { b, m, h } = before;
    // Directories that both sides have made merge: the sandbox sees head's from now on.
    for (const path of w.seen.keys()) {
      const merges = isDirectoryAt(h, path) && isDirectoryAt(m, path) && !isDirectoryAt(b, path);
      if (merges && flat.b.get(path) === h.get(path)) w.seen.set(path, h.get(path));
    }
    Object.assign(w, now);
    this.#forget(w);
  }

  #commit(w: Workspace): void {
    const world = this.#world;
    const random = this.#random;
    this.#follow(w);
    const onConflict = (['', '', 'ours', 'theirs'] as const)[random(4)]!;
    const paths = random(3) ? [this.#changedPath(w), this.#path()] : [''];
    const excluded = random(3) ? undefined : this.#path();
    const choice = chosen(paths, excluded);
    const before = this.#flats(w);
    const result = world.commit(w, choice, onConflict);
    this.#log(`commit ${world.workspaces.indexOf(w)} ${paths} -${excluded} ${onConflict} ${result.outcome}`);
    if (result.outcome === 'conflicts') checkConflicts(before, result.conflicts);
    if (result.outcome !== 'committed') return;
    const [base, mine, head] = [result.trees.base!, result.trees.mine!, result.trees.head!];
    const after = { b: world.flat(base), m: world.flat(mine), h: world.flat(head) };
    const has = (path: string) => choice.has(path as never);
    if (onConflict !== 'theirs') checkKept(world.memory, w.m, mine, (path) => after.m.has(path));
    checkCommitted({ before, after, chosen: has, excluded, onConflict, seen: w.seen });
    // What the own commit put into the codebase is what the sandbox has seen there, also a directory made for it.
    for (const path of w.seen.keys())
      if (after.b.get(path) !== before.b.get(path) && after.b.get(path) === after.h.get(path))
        w.seen.set(path, after.h.get(path));
    if (paths[0] === '' && excluded === undefined && onConflict !== 'ours')
      check(
        world.same(base, mine) && world.same(head, mine),
        () => `I11: changes after a commit of all: ${show(after.m)}`,
      );
    if (onConflict !== 'theirs' && random(2)) {
      this.#goOn(w);
      world.head = head;
      w.b = base;
      this.#endOfCommit(w, before, after, has);
    } else {
      world.head = head;
      Object.assign(w, { b: base, m: mine });
      this.#forget(w);
    }
    this.#followAll();
  }

  /** A path at which the sandbox has a change, or any path. */
  #changedPath(w: Workspace): string {
    const { b, m } = this.#flats(w);
    const paths = [...pathsOf(b, m)].filter((path) => path !== '' && b.get(path) !== m.get(path));
    return paths.length > 0 && this.#random(3) ? paths[this.#random(paths.length)]! : this.#path();
  }

  /** Programs go on between the freeze of a commit and its end. */
  #goOn(w: Workspace): void {
    for (let times = 1 + this.#random(3); times > 0; times--) this.#edit(w, [0, 1, 2, 8, 11][this.#random(5)]!);
  }

  /** What was written meanwhile is a change of the committed version, and in no conflict with it. */
  #endOfCommit(w: Workspace, before: FlatTrees, after: FlatTrees, has: (path: string) => boolean): void {
    const frozen = before.m;
    const now = this.#world.flat(w.m);
    const meanwhile = [...pathsOf(frozen, now)].filter((path) => now.get(path) !== frozen.get(path));
    for (const path of w.seen.keys())
      if (after.b.get(path) === frozen.get(path) && before.b.get(path) !== after.b.get(path))
        w.seen.set(path, frozen.get(path));
    for (const path of meanwhile) if (!w.seen.has(path)) w.seen.set(path, after.b.get(path));
    this.#forget(w);
    this.#follow(w);
    const { b, m, h } = this.#flats(w);
    for (const path of meanwhile) {
      if (h.get(path) === now.get(path) || now.get(path) === after.b.get(path)) continue;
      check(m.get(path) === now.get(path), () => `I12: what was written at ${path} during the commit is lost`);
      const taken = after.h.get(path) === frozen.get(path) && before.h.get(path) !== after.h.get(path);
      if (!has(path) || !(after.b.get(path) === after.h.get(path) || taken)) continue;
      if (parentsOf(path).some((parent) => b.get(parent) !== h.get(parent))) continue;
      check(b.get(path) === h.get(path), () => `I12: ${path} is in conflict with the own commit`);
    }
  }

  #discard(w: Workspace): void {
    const world = this.#world;
    const path = this.#random(3) ? this.#path() : '';
    const choice = chosen([path]);
    const has = (each: string) => choice.has(each as never);
    const before = this.#flats(w);
    const now = world.discard(w, choice);
    this.#log(`discard ${world.workspaces.indexOf(w)} ${path}`);
    const after = { b: world.flat(now.b), m: world.flat(now.m) };
    checkValid(after);
    checkKept(world.memory, w.m, now.m, (each) => !has(each));
    const told = (what: string, each: string) => () => `discard ${what} ${each}: ${show(before.m)} -> ${show(after.m)}`;
    const blocked = parentsOf(path).some((parent) => isFileAt(after.m, parent));
    for (const each of pathsOf(after.m, before.m, before.h)) {
      if (!has(each)) {
        if (before.m.has(each)) check(after.m.get(each) === before.m.get(each), told('changed', each));
      } else if (!blocked) {
        check(after.m.get(each) === before.h.get(each), told('left', each));
      }
    }
    for (const each of w.seen.keys())
      if (after.b.get(each) !== before.b.get(each) && after.b.get(each) === before.h.get(each))
        w.seen.set(each, before.h.get(each));
    Object.assign(w, now);
    this.#forget(w);
    this.#follow(w);
  }

  #checkpoint(w: Workspace): void {
    const number = this.#world.workspaces.indexOf(w);
    this.#world.share(w);
    if (w.checkpoints.length > 0 && this.#random(2)) {
      const { b, m, seen } = w.checkpoints[this.#random(w.checkpoints.length)]!;
      Object.assign(w, { b, m, seen: new Map(seen) });
      this.#log(`rollback ${number}`);
      this.#follow(w);
    } else {
      w.checkpoints.push({ b: w.b, m: w.m, seen: new Map(w.seen) });
      this.#log(`checkpoint ${number}`);
    }
  }

  #fork(w: Workspace): void {
    const { workspaces } = this.#world;
    const child = this.#random(3);
    if (workspaces[child] === w) return;
    this.#world.share(w);
    workspaces[child] = { b: w.b, m: w.m, seen: new Map(w.seen), checkpoints: [...w.checkpoints] };
    this.#log(`fork ${workspaces.indexOf(w)} -> ${child}`);
  }
}

/** Base is not head at each path that is told, or below it. */
function checkConflicts({ b, h }: FlatTrees, conflicts: readonly string[]): void {
  const lags = [...pathsOf(b, h)].filter((path) => b.get(path) !== h.get(path));
  for (const path of conflicts)
    check(
      lags.some((each) => each === path || isBelow(path, each)),
      () => `a false conflict at ${path}`,
    );
}
