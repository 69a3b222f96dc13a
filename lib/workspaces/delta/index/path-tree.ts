import { type ByteString, joinNames } from '../../../byte-string.ts';
import { PATH_ROW_BYTES } from './memory.ts';
import { NameArena } from './name-arena.ts';
import { mix, RowIndex } from './row-index.ts';

/** Rows of one block: few, so that a small tree needs little memory. */
const BLOCK = 256;
const FIELDS = 3;
/** Fields of a row: parent row, position of the name, and uses (children, and one if the row was taken by `add`). */
const [PARENT, NAME, USES] = [0, 1, 2];
/** The row of the root path. */
const ROOT = 0;
const SLASH = 0x2f;

/**
 * Paths as rows of a tree, so that each path needs memory only for its last name. Rows are small integers, by which
 * other structures store what belongs to a path. A row exists while it is in use or has children.
 */
export class PathTree {
  readonly #blocks: Int32Array[] = [];
  readonly #index = new RowIndex((row) => this.#hash(this.#get(row, PARENT), this.#name(row)));
  /** Makes colliding names unpredictable. */
  readonly #seed = Math.floor(Math.random() * 2 ** 31);
  #names = new NameArena();
  readonly #free: number[] = [];
  #next = ROOT + 1;
  /** Memory in bytes, of the rows in use with their names. */
  memory = 0;

  constructor() {
    this.#set(ROOT, USES, 1);
  }

  /** Number of rows, including unused ones. */
  get end(): number {
    return this.#next;
  }

  /** Returns the row of a path, if it has one. */
  find(path: ByteString): number | undefined {
    let row: number | undefined = ROOT;
    for (let start = 0; row !== undefined && start < path.length; ) {
      const end = endOfName(path, start);
      row = this.#child(row, path, start, end);
      start = end + 1;
    }
    return row;
  }

  /** Adds a path, or a use of it, and returns its row. The caller calls `remove`. */
  add(path: ByteString): number {
    let row = ROOT;
    for (let start = 0; start < path.length; ) {
      const end = endOfName(path, start);
      row = this.#child(row, path, start, end) ?? this.#make(row, path, start, end);
      start = end + 1;
    }
    this.#use(row, 1);
    return row;
  }

  /** Removes one use of a row, with each row above that is no longer in use. */
  remove(row: number): void {
    this.#use(row, -1);
    for (let at = row; at !== ROOT && this.#get(at, USES) === 0; ) {
      const parent = this.#get(at, PARENT);
      this.#delete(at, parent);
      this.#use(parent, -1);
      at = parent;
    }
    if (this.#names.isSparse) this.#packNames();
  }

  /** Returns the path of a row. */
  path(row: number): ByteString {
    const names: ByteString[] = [];
    for (let at = row; at !== ROOT; at = this.#get(at, PARENT)) names.push(this.#name(at));
    return joinNames(names.reverse());
  }

  #child(parent: number, path: ByteString, start: number, end: number): number | undefined {
    const hash = this.#hashOf(parent, path, start, end);
    return this.#index.find(
      hash,
      (row) => this.#get(row, PARENT) === parent && this.#names.matches(this.#get(row, NAME), path, start, end),
    );
  }

  #make(parent: number, path: ByteString, start: number, end: number): number {
    const name = this.#names.add(path, start, end);
    const row = this.#free.pop() ?? this.#next++;
    this.#set(row, PARENT, parent);
    this.#set(row, NAME, name);
    this.#set(row, USES, 0);
    this.#use(parent, 1);
    this.#index.add(this.#hashOf(parent, path, start, end), row);
    this.memory += PATH_ROW_BYTES + end - start;
    return row;
  }

  #delete(row: number, parent: number): void {
    const position = this.#get(row, NAME);
    this.#index.remove(this.#hash(parent, this.#name(row)), row);
    this.memory -= PATH_ROW_BYTES + this.#names.lengthOf(position);
    this.#names.remove(position);
    this.#free.push(row);
  }

  #packNames(): void {
    const names = new NameArena();
    for (let row = ROOT + 1; row < this.#next; row++) {
      if (this.#get(row, USES) === 0) continue;
      const name = this.#name(row);
      this.#set(row, NAME, names.add(name, 0, name.length));
    }
    this.#names = names;
  }

  #name(row: number): ByteString {
    return this.#names.get(this.#get(row, NAME));
  }

  #use(row: number, by: number): void {
    this.#set(row, USES, this.#get(row, USES) + by);
  }

  #hash(parent: number, name: ByteString): number {
    return this.#hashOf(parent, name, 0, name.length);
  }

  #hashOf(parent: number, text: ByteString, start: number, end: number): number {
    let hash = mix(this.#seed ^ parent);
    for (let at = start; at < end; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
      hash ^= hash >>> 15;
    }
    return mix(hash);
  }

  #get(row: number, field: number): number {
    return this.#blocks[Math.floor(row / BLOCK)]![(row % BLOCK) * FIELDS + field]!;
  }

  #set(row: number, field: number, value: number): void {
    const block = Math.floor(row / BLOCK);
    this.#blocks[block] ??= new Int32Array(BLOCK * FIELDS);
    this.#blocks[block][(row % BLOCK) * FIELDS + field] = value;
  }
}

function endOfName(path: ByteString, start: number): number {
  for (let at = start; at < path.length; at++) if (path.charCodeAt(at) === SLASH) return at;
  return path.length;
}
