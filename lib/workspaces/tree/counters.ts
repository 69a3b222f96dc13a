import { type Entry, isDirectory } from '../../trees/format/entry.ts';
import { isLocal, type Key, KIND, kindOf, PLACE_LENGTH_AT } from '../../trees/format/keys.ts';
import { addTotals, noTotals, ofOneName, type Totals } from '../../trees/format/totals.ts';

/**
 * What a tree has, exact after each change: the totals that its root would have, but for the objects that the next freeze
 * replaces and makes. The longest path is not in it.
 */
export class Counters {
  totals: Totals = noTotals();
  /** Names in patches. */
  patched = 0;
  /** Bytes of the objects that the next freeze writes anew. */
  objectBytes = 0;

  constructor(totals: Totals) {
    this.begin(totals);
  }

  /** There is no patch. */
  begin(totals: Totals): void {
    this.totals = noTotals();
    addTotals(this.totals, totals);
    this.patched = 0;
    this.objectBytes = 0;
  }

  /** An entry with all that is in it, at so many names. */
  add(entry: Entry, names = 1): void {
    weigh(this.totals, entry, names);
  }

  remove(entry: Entry, names = 1): void {
    weigh(this.totals, entry, -names);
  }

  /** The frozen tree at the root is another one. */
  exchange(from: Totals, to: Totals): void {
    addTimes(this.totals, from, -1);
    addTimes(this.totals, to, 1);
  }
}

/** Bytes of contents that the disk stores for the sandbox: none of those of its codebase. */
export function storedBytes({ key, size, holes }: Entry): number {
  if (!isLocal(key)) return 0;
  return holes === undefined ? size : size - holes;
}

function weigh(to: Totals, entry: Entry, times: number): void {
  const local = isLocal(entry.key);
  if (isDirectory(entry)) {
    addTimes(to, entry.totals, times);
    to.directories += times;
    if (local) {
      to.ownEntries += times;
      to.ownBytes += times * objectBytes(entry.key);
    }
    return;
  }
  to.files += times;
  to.bytes += times * entry.size;
  if (entry.nlink > 1) to.linked += times;
  if (!local) return;
  to.ownEntries += times;
  to.ownBytes += times * ofOneName(storedBytes(entry), entry.nlink);
}

function addTimes(to: Totals, totals: Totals, times: number): void {
  to.files += times * totals.files;
  to.bytes += times * totals.bytes;
  to.linked += times * totals.linked;
  to.directories += times * totals.directories;
  to.ownEntries += times * totals.ownEntries;
  to.ownBytes += times * totals.ownBytes;
}

/** Of a directory object in a sandbox's store, without decoding its key. */
function objectBytes(key: Key): number {
  return kindOf(key) === KIND.place ? readU32(key, PLACE_LENGTH_AT) : 0;
}

/** A number in a key, little-endian. */
export function readU32(key: Key, at: number): number {
  const low = key.charCodeAt(at) | (key.charCodeAt(at + 1) << 8) | (key.charCodeAt(at + 2) << 16);
  return low + key.charCodeAt(at + 3) * 0x1000000;
}
