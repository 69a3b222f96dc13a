import { join } from 'node:path';
import { type ByteString, fromLatin1 } from '../../byte-string.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { closeQuietly } from '../../linux/close.ts';
import { makeSpread } from './spread.ts';

/** Microseconds above which a creation is slow. It takes 10 to 30 on a free part of the disk, 100 to 400 behind freed inodes. */
const SLOW_US = 80;
/** Slow creations in a row: a thread may lose its processor in the middle of one. */
const IN_ROW = 4;
/** Most places for one commit: on a slow disk no place is better than another. */
const MAX_PLACES = 16;
const US_PER_MS = 1000;

/**
 * Creates the files of a large commit. Where that becomes slow because freed inodes are in the way (see `makeSpread`), the next
 * ones are created in a directory elsewhere on the disk and moved to their place. The caller must call `close`.
 */
export class NewFiles {
  readonly #root: string;
  readonly #tree: WritableTree;
  readonly #now: () => number;
  #elsewhere: WritableTree | undefined;
  #created = 0;
  #slow = 0;
  #places = 0;

  /** `tree`: that of the staging directory `root`. `now`: milliseconds. */
  constructor(root: string, tree: WritableTree, now: () => number = () => performance.now()) {
    this.#root = root;
    this.#tree = tree;
    this.#now = now;
  }

  /** Returns a descriptor for writing. The path must be free. */
  create(path: ByteString, mode: number): number {
    const began = this.#now();
    const fd = this.#create(path, mode);
    this.#slow = (this.#now() - began) * US_PER_MS > SLOW_US ? this.#slow + 1 : 0;
    if (this.#slow >= IN_ROW && this.#places <= MAX_PLACES) this.#goElsewhere();
    return fd;
  }

  close(): void {
    this.#elsewhere?.close();
    this.#elsewhere = undefined;
  }

  #create(path: ByteString, mode: number): number {
    if (this.#elsewhere === undefined) return this.#tree.create(path, mode);
    const name = fromLatin1(String(this.#created++));
    const fd = this.#elsewhere.create(name, mode);
    try {
      this.#elsewhere.moveTo(name, this.#tree, path);
      return fd;
    } catch (error) {
      closeQuietly(fd);
      throw error;
    }
  }

  /** After the last place, files are created where they belong. */
  #goElsewhere(): void {
    this.close();
    this.#slow = 0;
    if (++this.#places > MAX_PLACES) return;
    const name = fromLatin1(`elsewhere-${this.#places}`);
    try {
      makeSpread(this.#root, this.#tree, name);
      this.#elsewhere = new WritableTree(join(this.#root, name));
    } catch {
      this.#places = MAX_PLACES + 1;
    }
  }
}
