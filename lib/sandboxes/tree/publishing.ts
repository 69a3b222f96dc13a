import type { ByteString } from '../../byte-string.ts';
import { MAX_PACKED } from '../../store/limits.ts';
import type { Writing } from '../../store/writing.ts';
import { type Entry, TYPE } from '../../trees/format/entry.ts';
import { isLocal, type Key, NO_KEY } from '../../trees/format/keys.ts';
import { chunksOf } from './hashes.ts';
import type { FrozenContents } from './parts.ts';

type Stored = Pick<Entry, 'key' | 'size'>;

/** Puts the contents of files of a sandbox into the store of its codebase, each once. */
export class Publishing {
  readonly #contents: FrozenContents;
  readonly #writing: Writing;
  readonly #stored = new Map<Key, Stored>();

  constructor(contents: FrozenContents, writing: Writing) {
    this.#contents = contents;
    this.#writing = writing;
  }

  /** See `CommitOptions`. */
  readonly publish = (_: ByteString, entry: Entry): Entry => {
    if (entry.type !== TYPE.file || !isLocal(entry.key)) return entry;
    let stored = this.#stored.get(entry.key);
    if (stored === undefined) {
      stored = this.#store(entry);
      this.#stored.set(entry.key, stored);
    }
    return { ...entry, ...stored };
  };

  #store(entry: Entry): Stored {
    const { size } = entry;
    if (size === 0) return { key: NO_KEY, size };
    const path = size > MAX_PACKED ? this.#contents.path(entry) : undefined;
    if (path !== undefined) return this.#writing.putFile(path);
    if (size <= MAX_PACKED) {
      const bytes = Buffer.allocUnsafe(size);
      this.#contents.read(entry, 0, bytes);
      return { key: this.#writing.putContents(bytes), size };
    }
    const writer = this.#writing.contents();
    try {
      for (const chunk of chunksOf(this.#contents, entry)) writer.write(chunk);
      return writer.end();
    } finally {
      writer.drop();
    }
  }
}
