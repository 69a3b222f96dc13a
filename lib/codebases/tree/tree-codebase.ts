import type { FileInfo } from '../../contract/messages.ts';
import type { Disk } from '../../disk/disk.ts';
import { ServiceError } from '../../errors.ts';
import { notFound } from '../../not-found.ts';
import type { Page } from '../../paging.ts';
import type { Contents } from '../../store/object-reads.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import type { Entry } from '../../trees/format/entry.ts';
import { checkedMode, parseDirectoryPath, parseFilePath, parseLinkTarget } from '../file-path.ts';
import { TreeExport } from './archive/tree-export.ts';
import { TreeImport } from './archive/tree-import.ts';
import { ChangeQueue } from './change-queue.ts';
import { ContentsReader } from './contents-reader.ts';
import type { Head, Heads } from './head.ts';
import { listFiles } from './list-files.ts';
import { inOneStep } from './make-version.ts';
import { requireDirectory, requireFile } from './reach.ts';
import { removeEntry } from './remove-entry.ts';
import { storeError, withStore } from './store-error.ts';
import type { Run, TreeParts } from './tree-parts.ts';
import type { TreeQuota } from './tree-quota.ts';
import { Turn } from './turn.ts';
import { fileUpload, symlinkUpload, type Upload } from './upload.ts';

export interface TreeCodebaseOptions {
  readonly id: string;
  readonly store: ObjectStore;
  /** That of the store. */
  readonly disk: Disk;
  readonly heads: Heads;
  readonly quota: TreeQuota;
  readonly run: Run;
  readonly now?: () => number;
}

/**
 * The files of one codebase, as versions of a tree. Each change makes one version, and is seen as a whole when the head has
 * moved to it. Readers keep the version that they began with. All calls are made in the thread of the store.
 */
export class TreeCodebase {
  readonly #parts: TreeParts;
  readonly #queue: ChangeQueue;
  #isGone = false;

  constructor({ id, heads, now = Date.now, ...others }: TreeCodebaseOptions) {
    const head = (): Head => {
      const present = this.#isGone ? undefined : heads.read();
      if (present === undefined) throw notFound('codebase', id);
      return present;
    };
    this.#parts = { ...others, id, now, head, advance: (from, to) => heads.advance(from, to) };
    this.#queue = new ChangeQueue(this.#parts);
  }

  get head(): Head {
    return this.#parts.head();
  }

  /** Begins to replace or create a file, or a symlink with a target. Throws INVALID_ARGUMENT. */
  upload(path: string, { mode = 0o644, symlinkTarget }: { mode?: number; symlinkTarget?: string } = {}): Upload {
    const parsed = parseFilePath('file_path', path);
    const checked = checkedMode(mode);
    if (symlinkTarget !== undefined) return symlinkUpload(this.#queue, parsed, parseLinkTarget(symlinkTarget));
    return fileUpload(this.#parts, this.#queue, parsed, checked);
  }

  /** Removes a file or symlink, and the directories above it that become empty. NOT_FOUND. */
  async remove(path: string): Promise<void> {
    const parsed = parseFilePath('file_path', path);
    await this.#queue.add({ kind: 'remove', apply: (edit) => inOneStep(() => removeEntry(edit, parsed)) });
  }

  import(): TreeImport {
    return new TreeImport(this.#parts, this.#queue);
  }

  /** Of the head as it is now. NOT_FOUND: the directory. */
  export(path: string): TreeExport {
    const { store, disk } = this.#parts;
    const names = parseDirectoryPath('path', path);
    return new TreeExport(
      store,
      disk,
      withStore(() => requireDirectory(store, this.head.root, names, path)),
    );
  }

  /** A page of files in byte order of their paths. NOT_FOUND: the path; INVALID_ARGUMENT: the page token. */
  list(request: { path: string; recursive: boolean } & Page): { files: FileInfo[]; next_page_token: string } {
    const { store, id } = this.#parts;
    return withStore(() => listFiles(store, this.head.root, id, request));
  }

  /** The entry of a regular file. NOT_FOUND; FAILED_PRECONDITION for anything else. */
  file(path: string): Entry {
    const parsed = parseFilePath('file_path', path);
    return withStore(() => requireFile(this.#parts.store, this.head.root, parsed));
  }

  /** Where the contents of a file are that are not empty. See `ObjectStore.contents`. */
  contents({ key, size }: Entry): Contents {
    return withStore(() => this.#parts.store.contents(key, size));
  }

  /** The caller closes it. */
  reader(entry: Entry): ContentsReader {
    const { store, disk } = this.#parts;
    return withStore(() => new ContentsReader(store, disk, entry));
  }

  /** Inode numbers for a sandbox, from the first on: nobody else is given these. Durable when it resolves. */
  leaseNumbers(count: number): Promise<number> {
    return this.#queue.between(async () => {
      const { head, advance } = this.#parts;
      const from = head();
      const { numbers } = this.#queue;
      numbers.passOver(from.nextIno);
      const first = numbers.next;
      // Before others can take some, while the head moves.
      numbers.passOver(first + count);
      if ((await advance(from, { ...from, nextIno: first + count })) === true) return first;
      throw new ServiceError('ABORTED', 'the codebase is changed by others; try again');
    });
  }

  /** Runs a step after all changes before it, and before those after it. */
  inTurn<T>(step: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#queue.between(async () => {
      try {
        return await step(new Turn(this.#parts, this.#queue.numbers));
      } catch (error) {
        throw storeError(error);
      } finally {
        this.#parts.quota.release();
      }
    });
  }

  /** Runs `remove` after all changes before it; if it succeeds, there is nothing here any more. */
  end(remove: () => Promise<void>): Promise<void> {
    return this.#queue.between(async () => {
      this.#parts.head();
      await remove();
      this.#isGone = true;
    });
  }
}
