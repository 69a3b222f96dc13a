import { crc32 } from 'node:zlib';
import { ESTALE } from '../../linux/errno.ts';
import type { ContentStore } from './contents/content-store.ts';
import { readFile } from './contents/host-io.ts';
import { SMALL } from './contents/slabs.ts';
import { NO_SLOT } from './contents/stored-file.ts';
import type { DeltaIndex } from './delta-index.ts';
import type { Inode } from './index/inode.ts';
import type { FileBody } from './index/records.ts';

/** Copies the contents of host files into one delta, for copy-up. */
export class CopyIn {
  readonly #index: DeltaIndex;
  readonly #contents: ContentStore;

  constructor(index: DeltaIndex, contents: ContentStore) {
    this.#index = index;
    this.#contents = contents;
  }

  /**
   * Copies an open host file of `size` bytes for a new inode and returns the location for its record. The caller calls
   * `adopt` after the record, or `discard`. After a crash before that, the next load removes the copy. Throws ESTALE if
   * the file became shorter, Postponed, and host errors.
   */
  copy(from: number, size: number, id: number): FileBody {
    // A layer with contents needs a journal.
    this.#index.begin();
    if (size <= SMALL) {
      const bytes = Buffer.allocUnsafe(size);
      if (readFile(from, 0, bytes) !== size) throw ESTALE;
      return this.put(bytes, id);
    }
    const { mtime, holes } = this.#contents.putFile(from, { layer: this.#index.top, id });
    const body: FileBody = [this.#index.top, id, NO_SLOT, size, mtime.sec, mtime.nsec];
    if (holes > 0) body[6] = holes;
    return body;
  }

  /** As `copy`, of at most `SMALL` bytes in memory. Without bytes there is nothing to adopt or discard. */
  put(bytes: Buffer, id: number): FileBody {
    this.#index.begin();
    if (bytes.length === 0) return [this.#index.top, id, NO_SLOT, 0, 0, 0];
    const { layer, slot } = this.#contents.putSmall(bytes, id);
    return [layer, id, slot, bytes.length, 0, 0, crc32(bytes)];
  }

  /** Throws Postponed while the open host file is being copied in. */
  wait(from: number): void {
    this.#contents.awaitCopy(from);
  }

  /** Removes a copy by `copy` that no record names. */
  discard([layer, id, slot]: FileBody): void {
    this.#contents.discard({ layer, id, slot });
  }

  /** Assigns a copy by `copy` to the inode of its record. */
  adopt(inode: Inode): void {
    inode.hasFile = inode.requireData().slot === NO_SLOT;
    this.#contents.assign(inode);
  }
}
