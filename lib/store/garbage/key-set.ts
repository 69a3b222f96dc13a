import type { Key } from '../../trees/format/keys.ts';

/** Of a digest: nobody can make two objects that have as many of its bytes in common. */
const WORDS = 4;
const PARTS = 256;
const LEAST = 16;

/**
 * Keys with flags: a million take 34 MB and nothing of the garbage collection of the language. Only hashes, by the first 16
 * bytes. It is divided, because one large table would hold up its thread when it grows.
 */
export class KeySet {
  readonly #parts: readonly Part[];
  #size = 0;

  /** `expected`: up to so many keys it does not grow. */
  constructor(expected = 0) {
    let places = LEAST;
    while (places * PARTS * 0.7 < expected) places *= 2;
    this.#parts = Array.from({ length: PARTS }, () => new Part(places));
  }

  get size(): number {
    return this.#size;
  }

  /** Sets flags of the digest at a place. Answers with those that it had; 0: it was not in the set. */
  addAt(bytes: Buffer, at: number, flags: number): number {
    const [a, b] = [bytes.readInt32LE(at), bytes.readInt32LE(at + 4)];
    return this.#add(a, b, bytes.readInt32LE(at + 8), bytes.readInt32LE(at + 12), flags);
  }

  add(key: Key, flags: number): number {
    return this.#add(word(key, 1), word(key, 5), word(key, 9), word(key, 13), flags);
  }

  /** The flags of a key; 0: it is not in the set. */
  flags(key: Key): number {
    const a = word(key, 1);
    const part = this.#parts[a & (PARTS - 1)]!;
    return part.flags[part.place(a, word(key, 5), word(key, 9), word(key, 13))]!;
  }

  /** Takes a flag, which is not the only one, from all keys. */
  clear(flag: number): void {
    for (const { flags } of this.#parts) for (let place = 0; place < flags.length; place++) flags[place]! &= ~flag;
  }

  /** How many keys have all of these flags. */
  count(wanted: number): number {
    let count = 0;
    for (const { flags } of this.#parts)
      for (let place = 0; place < flags.length; place++) if ((flags[place]! & wanted) === wanted) count++;
    return count;
  }

  #add(a: number, b: number, c: number, d: number, flags: number): number {
    const part = this.#parts[a & (PARTS - 1)]!;
    const place = part.place(a, b, c, d);
    const had = part.flags[place]!;
    if ((had | flags) === had) return had;
    part.flags[place] = had | flags;
    if (had === 0) {
      this.#size++;
      part.take(place, a, b, c, d);
    }
    return had;
  }
}

/** A table of places; the flags of an empty one are 0. They stand apart: most keys are new, and need no look at the others. */
class Part {
  flags: Uint8Array;
  #words: Int32Array;
  #used = 0;

  constructor(places: number) {
    this.flags = new Uint8Array(places);
    this.#words = new Int32Array(places * WORDS);
  }

  /** Where the key is, or would be. */
  place(a: number, b: number, c: number, d: number): number {
    const flags = this.flags;
    const words = this.#words;
    const mask = flags.length - 1;
    for (let place = b & mask; ; place = (place + 1) & mask) {
      if (flags[place] === 0) return place;
      const at = place * WORDS;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return place;
    }
  }

  /** Its flags are set already. */
  take(place: number, a: number, b: number, c: number, d: number): void {
    const at = place * WORDS;
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = c;
    this.#words[at + 3] = d;
    this.#used++;
    if (this.#used * 4 > this.flags.length * 3) this.#grow();
  }

  #grow(): void {
    const [flags, words] = [this.flags, this.#words];
    this.flags = new Uint8Array(flags.length * 2);
    this.#words = new Int32Array(words.length * 2);
    for (let old = 0; old < flags.length; old++) {
      if (flags[old] === 0) continue;
      const at = old * WORDS;
      const place = this.place(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
      this.flags[place] = flags[old]!;
      this.#words.set(words.subarray(at, at + WORDS), place * WORDS);
    }
  }
}

function word(key: Key, at: number): number {
  const high = key.charCodeAt(at + 2) | (key.charCodeAt(at + 3) << 8);
  return key.charCodeAt(at) | (key.charCodeAt(at + 1) << 8) | (high << 16);
}
