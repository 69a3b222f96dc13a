import { createHash } from 'node:crypto';
import { Comparison } from '../../trees/algebra/comparison.ts';
import { wants } from '../../trees/algebra/wants.ts';
import type { Entry } from '../../trees/format/entry.ts';
import { hashKey, type Key } from '../../trees/format/keys.ts';
import type { FrozenContents, TreeSandbox } from './parts.ts';

const CHUNK = 1 << 20;

/** Compares trees of one sandbox and its codebase, for one operation. Contents are read once. */
export class Hashes {
  readonly #sandbox: Pick<TreeSandbox, 'source' | 'contents'>;
  readonly #known = new Map<Key, Key>();

  constructor(sandbox: Pick<TreeSandbox, 'source' | 'contents'>) {
    this.#sandbox = sandbox;
  }

  /** A comparison that knows what is equal in these trees. */
  *comparing(b: Entry | undefined, m: Entry | undefined, h: Entry | undefined): Generator<void, Comparison, void> {
    const { source, contents } = this.#sandbox;
    const comparison = new Comparison(source, (key) => this.#known.get(key));
    for (const [key, entry] of wants(comparison, b, m, h)) {
      this.#known.set(key, yield* hashOf(contents, entry));
      yield;
    }
    return comparison;
  }
}

function* hashOf(contents: FrozenContents, entry: Entry): Generator<void, Key, void> {
  const hash = createHash('sha256');
  for (const bytes of chunksOf(contents, entry)) {
    hash.update(bytes);
    yield;
  }
  return hashKey(hash.digest());
}

/** All bytes of a file; each chunk is overwritten by the next one. */
export function* chunksOf(contents: FrozenContents, entry: Entry): Generator<Buffer, void, void> {
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, entry.size));
  for (let at = 0; at < entry.size; at += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, entry.size - at));
    contents.read(entry, at, part);
    yield part;
  }
}
