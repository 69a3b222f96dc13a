import { type ByteString, joinNames } from '../../../byte-string.ts';
import { PATH_ROW_BYTES } from './memory.ts';
import { NameArena } from './name-arena.ts';
import { hashOfText, RowIndex } from './row-index.ts';

/** Rows of one block: few, so that a small tree needs little memory. */
const BLOCK = 256;
const FIELDS = 3;
/** Rows whose names are copied at once. */
const PACKED_AT_ONCE = 64;
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
  /** While names are packed: those of the rows from `#packed` on. */
  #sparse: NameArena | undefined;
  #packed = 0;
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
    this.#packSome();
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
      (row) => this.#get(row, PARENT) === parent && this.#namesOf(row).matches(this.#get(row, NAME), path, start, end),
    );
  }

  #make(parent: number, path: ByteString, start: number, end: number): number {
    this.#packSome();
    const row = this.#free.pop() ?? this.#next++;
    this.#set(row, PARENT, parent);
    this.#set(row, NAME, this.#namesOf(row).add(path, start, end));
    this.#set(row, USES, 0);
    this.#use(parent, 1);
    this.#index.add(this.#hashOf(parent, path, start, end), row);
    this.memory += PATH_ROW_BYTES + end - start;
    return row;
  }

  #delete(row: number, parent: number): void {
    const position = this.#get(row, NAME);
    this.#index.remove(this.#hash(parent, this.#name(row)), row);
    const names = this.#namesOf(row);
    this.memory -= PATH_ROW_BYTES + names.lengthOf(position);
    names.remove(position);
    this.#free.push(row);
  }

  /** Copies the names of some rows to another arena, if the present one is sparse. */
  #packSome(): void {
    if (this.#sparse === undefined) {
      if (!this.#names.isSparse) return;
      this.#sparse = this.#names;
      this.#names = new NameArena();
      this.#packed = ROOT + 1;
    }
    const end = Math.min(this.#packed + PACKED_AT_ONCE, this.#next);
    while (this.#packed < end) {
      const row = this.#packed;
      const name = this.#get(row, USES) === 0 ? undefined : this.#name(row);
      this.#packed++;
      if (name !== undefined) this.#set(row, NAME, this.#names.add(name, 0, name.length));
    }
    if (end === this.#next) this.#sparse = undefined;
  }

  #namesOf(row: number): NameArena {
    return this.#sparse === undefined || row < this.#packed ? this.#names : this.#sparse;
  }

  #name(row: number): ByteString {
    return this.#namesOf(row).get(this.#get(row, NAME));
  }

  #use(row: number, by: number): void {
    this.#set(row, USES, this.#get(row, USES) + by);
  }

  #hash(parent: number, name: ByteString): number {
    return this.#hashOf(parent, name, 0, name.length);
  }

  #hashOf(parent: number, text: ByteString, start: number, end: number): number {
    return hashOfText(this.#seed ^ parent, text, start, end);
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
