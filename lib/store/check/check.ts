import { createHash } from 'node:crypto';
import { type ByteString, joinPath, quote, ROOT_PATH } from '../../byte-string.ts';
import type { Disk } from '../../disk/disk.ts';
import { AbsentObject } from '../../trees/directory/source.ts';
import type { DirectoryObject } from '../../trees/format/directory-object.ts';
import { isDirectory } from '../../trees/format/entry.ts';
import { FormatError } from '../../trees/format/format-error.ts';
import { hashKey, type Key, KIND, kindOf } from '../../trees/format/keys.ts';
import { parseObject } from '../../trees/format/parse-object.ts';
import { DamagedObject, type ObjectPlace } from '../damaged-object.ts';
import { KeySet } from '../garbage/key-set.ts';
import type { Roots } from '../garbage/roots.ts';
import type { ObjectStore } from '../object-store.ts';
import { hexOf } from '../packs/record.ts';
import { treesIn } from '../versions/version.ts';

/** One object that is missing or damaged. */
export interface Finding {
  /** 64 hex digits. */
  readonly digest: string;
  /** undefined: it is nowhere. */
  readonly place: ObjectPlace | undefined;
  /** The root that names it first, and where in its tree; '' for a root itself. */
  readonly root: string;
  readonly path: ByteString;
  readonly message: string;
}

interface Named {
  readonly key: Key;
  readonly kind: 'version' | 'directory' | 'contents';
  /** Of contents. */
  readonly size: number;
  readonly root: string;
  readonly path: ByteString;
}

export interface CheckOptions {
  readonly store: ObjectStore;
  readonly disk: Disk;
  readonly roots: Roots;
  /** Contents are read, too. Else it is only looked whether they are there. */
  readonly reads: boolean;
}

const FLAG = { seen: 1, walked: 2 } as const;
const CHUNK = 1024 * 1024;

/**
 * Reads what roots name, each object once, in the order of paths, and tells what is missing or damaged. What only a damaged
 * directory names cannot be known.
 */
export class Check {
  /** Of what was checked. */
  objects = 0;
  bytes = 0;
  readonly #options: CheckOptions;
  readonly #seen = new KeySet();
  readonly #places = new Set<Key>();
  readonly #waiting: Named[];

  constructor(options: CheckOptions) {
    this.#options = options;
    const { versions, directories, contents } = options.roots;
    const named = (kind: Named['kind']) => (root: { key: Key; name: string }) => ({
      ...{ key: root.key, kind, size: 0 },
      ...{ root: root.name, path: ROOT_PATH },
    });
    const all = [versions.map(named('version')), directories.map(named('directory')), contents.map(named('contents'))];
    this.#waiting = all.flat().reverse();
  }

  /** A step reads one object, or 1 MiB of one. It yields what it found. */
  *steps(): Generator<Finding | undefined, void, void> {
    for (let named = this.#waiting.pop(); named !== undefined; named = this.#waiting.pop()) {
      if (!this.#isNew(named)) continue;
      this.objects++;
      try {
        if (named.kind === 'contents') yield* this.#contents(named);
        else this.#waiting.push(...this.#below(named).reverse());
        yield undefined;
      } catch (error) {
        if (!(error instanceof AbsentObject || error instanceof FormatError)) throw error;
        yield finding(named, error);
      }
    }
  }

  /** Contents may have the same bytes as a directory, whose names must be read in any case. */
  #isNew({ key, kind }: Named): boolean {
    if (kindOf(key) === KIND.place && kind === 'directory') {
      const size = this.#places.size;
      return this.#places.add(key).size > size;
    }
    if (kindOf(key) !== KIND.hash) return false;
    const flag = kind === 'contents' ? FLAG.seen : FLAG.walked;
    return (this.#seen.add(key, FLAG.seen | flag) & flag) === 0;
  }

  #below(named: Named): Named[] {
    const { key, root, path } = named;
    const { store, roots } = this.#options;
    if (named.kind === 'version') {
      const { root: tree, commit } = store.version(key);
      const directory = { kind: 'directory' as const, size: 0, root, path };
      return [tree.key, ...treesIn(commit)].map((each) => ({ ...directory, key: each }));
    }
    if (kindOf(key) === KIND.place) return namesIn(roots.places.load(key), named);
    const bytes = store.bytes(key, 0);
    this.bytes += bytes.length;
    return namesIn(parseObject(bytes), named);
  }

  *#contents({ key, size }: Named): Generator<undefined, void, void> {
    const { store, reads, disk } = this.#options;
    const { fd, own, length } = store.contents(key, size);
    if (!own) {
      if (reads) store.bytes(key, size);
      this.bytes += length;
      return;
    }
    try {
      if (reads) yield* this.#large(key, fd, length);
    } finally {
      disk.close(fd);
    }
  }

  *#large(key: Key, fd: number, length: number): Generator<undefined, void, void> {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafeSlow(CHUNK);
    for (let at = 0; at < length; at += CHUNK) {
      hash.update(chunk.subarray(0, this.#options.disk.pread(fd, chunk, at)));
      yield undefined;
    }
    this.bytes += length;
    if (hashKey(hash.digest()) !== key) throw new DamagedObject(key, { file: `blob ${hexOf(key)}`, offset: 0 });
  }
}

function namesIn(object: DirectoryObject, { root, path }: Named): Named[] {
  return Array.from({ length: object.count }, (_, index) => {
    if (object.level > 0) return { key: object.item(index).key, kind: 'directory', size: 0, root, path };
    const entry = object.entry(index);
    const kind = isDirectory(entry) ? 'directory' : 'contents';
    return { key: entry.key, kind, size: entry.size, root, path: joinPath(path, entry.name) };
  });
}

function finding({ key, root, path }: Named, error: AbsentObject | FormatError): Finding {
  const place = error instanceof DamagedObject ? error.place : undefined;
  const where = path === ROOT_PATH ? root : `${root} at ${quote(path)}`;
  return { digest: hexOf(key), place, root, path, message: `${error.message}; it is named by ${where}` };
}

/** The first object that is not there, without reading contents; it looks for it in steps. */
export function* firstMissing(options: Omit<CheckOptions, 'reads'>): Generator<void, Finding | undefined, void> {
  for (const found of new Check({ ...options, reads: false }).steps()) {
    if (found !== undefined) return found;
    yield;
  }
  return undefined;
}
