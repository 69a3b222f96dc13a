import {
  type BigIntStats,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { type ByteString, baseNameOf, parentOf, ROOT_PATH, sliceOf } from '../byte-string.ts';
import { errorCode } from '../linux/errno.ts';
import { at, isAbsence, itself, OPEN_DIRECTORY, OPEN_FILE } from './at.ts';
import type { HeldDirectories, HeldDirectory } from './held-directories.ts';
import { type OpenDirectory, TransientChain } from './transient-chain.ts';

/** Entries of a large directory that are read by one call. */
const ENTRIES_PER_READ = 64;
/** Largest st_size of a directory that is read by one call: some hundred entries; 4,096 on ZFS, where it counts entries. */
const MAX_SIZE_PER_READ = 4 << 10;

const NO_THROW = { bigint: true, throwIfNoEntry: false } as const;

/**
 * Synchronous reads of a host directory tree in which tenants choose names and symbolic links. A path ('' is the root)
 * is resolved from the root's descriptor one component at a time, without following symbolic links, so nothing outside
 * of the tree can be reached.
 *
 * Directories stay open between calls, so that most lookups resolve one component. An open directory that was moved or
 * removed would show entries that the tree no longer has. Therefore a writer first adds the changing paths to
 * `changing` and calls `release`; after the change it calls `release` again and removes them. Directories at and below
 * a changing path stay open for some milliseconds only.
 */
export class HostTree {
  readonly #root: string;
  readonly #changing: ReadonlyMap<ByteString, unknown>;
  readonly #held: HeldDirectories;
  readonly #byPath = new Map<ByteString, HeldDirectory>();
  readonly #transient: TransientChain;

  /** `root`: a directory of the server; its path may contain symbolic links. Throws if it does not exist. */
  constructor(
    root: string,
    held: HeldDirectories,
    changing: ReadonlyMap<ByteString, unknown> = new Map(),
    now: () => number = () => performance.now(),
  ) {
    this.#root = realpathSync(root);
    this.#held = held;
    this.#changing = changing;
    this.#transient = new TransientChain(now);
  }

  /** Does not follow a symbolic link; undefined if the path does not exist in the tree. */
  lstat(path: ByteString): BigIntStats | undefined {
    return this.#inParent(path, (parent, name) => {
      if (name === '') return fstatSync(parent, { bigint: true });
      return lstatSync(at(parent, name), NO_THROW);
    });
  }

  /** As `lstat`, of a name in a directory. */
  lstatIn(directory: ByteString, name: ByteString): BigIntStats | undefined {
    return this.#in(directory, (fd) => lstatSync(at(fd, name), NO_THROW));
  }

  /** The entries of a directory; empty if it does not exist in the tree. Names have one char per byte. */
  readdir(path: ByteString): Dirent[] {
    return (
      this.#in(path, (fd) => readdirSync(itself(fd), { withFileTypes: true, encoding: 'latin1' })) ?? ([] as Dirent[])
    );
  }

  /**
   * As `readdir`; a large directory is read from the disk while it is gone through, and entries that are added or
   * removed meanwhile may be missed.
   */
  *entries(path: ByteString): Generator<Dirent, void, void> {
    const directory = this.#in(path, (fd) =>
      fstatSync(fd).size <= MAX_SIZE_PER_READ
        ? readdirSync(itself(fd), { withFileTypes: true, encoding: 'latin1' })
        : opendirSync(itself(fd), { encoding: 'latin1', bufferSize: ENTRIES_PER_READ }),
    );
    if (directory === undefined) return;
    if (Array.isArray(directory)) return yield* directory;
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) yield entry;
    } finally {
      directory.closeSync();
    }
  }

  /** undefined if the path does not exist in the tree. Throws EINVAL for an entry that is not a symbolic link. */
  readlink(path: ByteString): Buffer | undefined {
    return this.#inParent(path, (parent, name) => readlinkSync(at(parent, name), { encoding: 'buffer' }));
  }

  /** Opens a file for reading; the caller must check its type and close it. undefined as for `readlink`. */
  openFile(path: ByteString): number | undefined {
    return this.#inParent(path, (parent, name) => openSync(at(parent, name), OPEN_FILE));
  }

  /** As `openFile`, of a name in a directory. */
  openFileIn(directory: ByteString, name: ByteString): number | undefined {
    return this.#in(directory, (fd) => openSync(at(fd, name), OPEN_FILE));
  }

  /**
   * Call after paths were added to `changing`, and before they are removed from it: closes everything at and below
   * them.
   */
  release(): void {
    this.#transient.close();
    if (this.#changing.size === 0) return;
    // Shallow paths first, so that the result for a parent is known before its children.
    const known = new Map<ByteString, boolean>();
    const byDepth = [...this.#byPath.values()].sort((a, b) => a.path.length - b.path.length);
    for (const directory of byDepth) if (this.#isChanging(directory.path, known)) this.#held.release(directory);
  }

  /** Closes all directories. Later calls open them again. */
  close(): void {
    this.#transient.close();
    for (const directory of [...this.#byPath.values()]) this.#held.release(directory);
  }

  #inParent<T>(path: ByteString, use: (parent: number, name: ByteString) => T): T | undefined {
    return this.#in(parentOf(path), (fd) => use(fd, baseNameOf(path)));
  }

  /** undefined: the directory does not exist, or `use` returned undefined. */
  #in<T>(path: ByteString, use: (fd: number) => T): T | undefined {
    try {
      return this.#resolve(path, use);
    } catch (error) {
      if (isAbsence(error)) return undefined;
      if (!isShortOfDescriptors(error) || this.#held.size === 0) throw error;
    }
    this.#transient.close();
    this.#held.releaseAll();
    try {
      return this.#resolve(path, use);
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw error;
    }
  }

  #resolve<T>(path: ByteString, use: (fd: number) => T): T {
    const held = this.#byPath.get(path);
    if (held === undefined) {
      const transient = this.#transient.deepest(path);
      return this.#walk(transient ?? this.#start(path), transient !== undefined, path, use);
    }
    this.#held.used(held);
    return use(held.fd);
  }

  /**
   * The parent, or else the root: the way from there ends at the first directory that is missing. A search for the deepest
   * one that is open would look at each directory of a path of 4,096 bytes, although the tree has none of them.
   */
  #start(path: ByteString): HeldDirectory {
    const start = this.#byPath.get(parentOf(path)) ?? this.#byPath.get(ROOT_PATH) ?? this.#openRoot();
    this.#held.used(start);
    return start;
  }

  #openRoot(): HeldDirectory {
    const root = { owner: this.#byPath, path: ROOT_PATH, fd: openSync(this.#root, OPEN_DIRECTORY) };
    this.#held.hold(root);
    return root;
  }

  /** `changing`: whether `start` is at or below a changing path. */
  #walk<T>(start: OpenDirectory, changing: boolean, path: ByteString, use: (fd: number) => T): T {
    let { fd } = start;
    let below = changing;
    for (let from = start.path === '' ? 0 : start.path.length + 1; from < path.length; ) {
      const slash = path.indexOf('/', from);
      const to = slash === -1 ? path.length : slash;
      const reached = sliceOf(path, 0, to);
      below ||= this.#changing.size > 0 && (this.#changing.has(reached) || this.#changing.has(ROOT_PATH));
      // Throws for a name that is none, also where the path without it is held.
      const target = at(fd, sliceOf(path, from, to));
      const held = below ? undefined : this.#byPath.get(reached);
      if (held === undefined) {
        fd = openSync(target, OPEN_DIRECTORY);
        if (below) this.#transient.push({ path: reached, fd });
        else this.#held.hold({ owner: this.#byPath, path: reached, fd });
      } else {
        fd = held.fd;
        this.#held.used(held);
      }
      from = to + 1;
    }
    return use(fd);
  }

  /** Whether a path is at or below a changing one. `known`: cache of results, extended by this call. */
  #isChanging(path: ByteString, known: Map<ByteString, boolean>): boolean {
    const unknown: ByteString[] = [];
    let answer = this.#changing.has(ROOT_PATH);
    for (let at = path; at !== ''; at = parentOf(at)) {
      const before = known.get(at);
      if (before !== undefined) {
        answer = before;
        break;
      }
      unknown.push(at);
    }
    for (const at of unknown.reverse()) {
      answer ||= this.#changing.has(at);
      known.set(at, answer);
    }
    return answer;
  }
}

function isShortOfDescriptors(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'EMFILE' || code === 'ENFILE';
}
