import { Postponed } from '../../../fuse/filesystem.ts';
import { EIO, Errno, hostErrno } from '../../../linux/errno.ts';
import type { DataFiles } from './data-files.ts';
import type { OwnSyncs } from './host-syncs.ts';
import type { FileRef, StoredFile } from './stored-file.ts';

interface DurableCopy {
  ref: FileRef;
  /** The contents that were copied. */
  contents: string;
  cause: number;
  /** undefined: the sync is in progress. 0: durable. */
  errno: number | undefined;
}

/**
 * Data files with a copy of durable contents from a slot. Contents that were durable must not be replaced by contents
 * that are not, so a record names the copy only after its sync. Another thread makes it: the request is Postponed and
 * runs again at its end. A copy that no request used is overwritten by the next one, or removed at the next load.
 */
export class DurableCopies {
  readonly #files: DataFiles;
  readonly #syncs: OwnSyncs;
  readonly #copies = new Map<StoredFile, DurableCopy>();

  constructor(files: DataFiles, syncs: OwnSyncs) {
    this.#files = files;
    this.#syncs = syncs;
  }

  /**
   * Whether `ref` is a durable copy of the present contents. Throws Postponed while it is being made durable, and the
   * errno of a failure.
   */
  take(inode: StoredFile, ref: FileRef): boolean {
    const copy = this.#copies.get(inode);
    if (copy === undefined) return false;
    const isPresent = copy.contents === contentsOf(inode) && copy.ref.layer === ref.layer;
    if (isPresent && copy.errno === undefined) throw new Postponed(copy.cause);
    this.#copies.delete(inode);
    if (!isPresent) return false;
    if (copy.errno! > 0) {
      this.#files.remove(ref);
      throw new Errno(copy.errno!);
    }
    return true;
  }

  /** Makes a copy durable that was written to `ref`: at once, or throws Postponed until `take` is true. */
  sync(inode: StoredFile, ref: FileRef): void {
    if (!this.#syncs.inBackground) {
      this.#files.sync(ref, true);
      return;
    }
    const copy: DurableCopy = { ref, contents: contentsOf(inode), cause: 0, errno: undefined };
    copy.cause = this.#syncs.add({
      open: () => ({ files: [{ file: this.#files.open(ref, false), datasync: true }] }),
      done: (result) => {
        copy.errno = 'errnos' in result ? (result.errnos[0] ?? EIO.errno) : errnoOf(result.thrown);
      },
    });
    this.#copies.set(inode, copy);
    throw new Postponed(copy.cause);
  }

  /** Removes the copy of a removed inode. */
  delete(inode: StoredFile): void {
    const copy = this.#copies.get(inode);
    if (copy === undefined) return;
    this.#copies.delete(inode);
    this.#files.remove(copy.ref);
  }

  /** Removes all copies. */
  clear(): void {
    for (const inode of [...this.#copies.keys()]) this.delete(inode);
  }
}

/** Differs whenever contents in a slot differ. */
function contentsOf({ data, size, expected }: StoredFile): string {
  return `${data?.layer}:${data?.slot}:${size}:${expected}`;
}

function errnoOf(thrown: unknown): number {
  const error = hostErrno(thrown);
  return error instanceof Errno ? error.errno : EIO.errno;
}
