import { type ByteString, parentOf, ROOT_PATH, sliceOf } from '../byte-string.ts';
import { Directory } from './directory.ts';

interface Entry {
  readonly opening: Promise<Directory>;
  users: number;
}

/**
 * Directories of one tree with names chosen by tenants, resolved from the root one component at a time and kept open
 * for later calls. Nothing else may change the tree meanwhile. The caller must close it.
 */
export class OpenDirectories {
  readonly #root: string;
  readonly #limit: number;
  readonly #byPath = new Map<ByteString, Entry>();

  /** `root`: a directory of the server. At most `limit` directories are open in addition to those in use. */
  constructor(root: string, limit = 64) {
    this.#root = root;
    this.#limit = limit;
  }

  /** Runs `task` with the directory at a path ('': the root). Rejects with the errno of the failed resolution. */
  async use<T>(path: ByteString, task: (directory: Directory) => Promise<T>): Promise<T> {
    const entry = await this.#resolve(path);
    try {
      return await task(await entry.opening);
    } finally {
      await this.#release(entry);
    }
  }

  /** Must not be called while a directory is in use. */
  async close(): Promise<void> {
    const open = [...this.#byPath.values()];
    this.#byPath.clear();
    await Promise.all(open.map(async ({ opening }) => (await opening).close()));
  }

  async #resolve(path: ByteString): Promise<Entry> {
    let at = this.#deepestOpen(path);
    let entry = await this.#take(at, () => Directory.open(`${this.#root}/.`));
    while (at.length < path.length) {
      const from = at === '' ? 0 : at.length + 1;
      const slash = path.indexOf('/', from);
      const next = slash === -1 ? path : sliceOf(path, 0, slash);
      const parent = entry;
      try {
        entry = await this.#take(next, async () => (await parent.opening).directory(sliceOf(next, from)));
      } finally {
        await this.#release(parent);
      }
      at = next;
    }
    return entry;
  }

  #deepestOpen(path: ByteString): ByteString {
    for (let at = path; at !== ''; at = parentOf(at)) {
      if (this.#byPath.has(at)) return at;
    }
    return ROOT_PATH;
  }

  async #take(path: ByteString, open: () => Promise<Directory>): Promise<Entry> {
    const known = this.#byPath.get(path);
    const entry = known ?? { opening: open(), users: 0 };
    entry.users++;
    // The most recently used are last.
    this.#byPath.delete(path);
    this.#byPath.set(path, entry);
    try {
      await entry.opening;
      return entry;
    } catch (error) {
      if (this.#byPath.get(path) === entry) this.#byPath.delete(path);
      throw error;
    }
  }

  async #release(entry: Entry): Promise<void> {
    entry.users--;
    if (this.#byPath.size <= this.#limit) return;
    for (const [path, oldest] of this.#byPath) {
      if (oldest.users > 0) continue;
      this.#byPath.delete(path);
      await (await oldest.opening).close();
      return;
    }
  }
}
