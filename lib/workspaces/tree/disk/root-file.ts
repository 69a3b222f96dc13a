import type { Disk } from '../../../disk/disk.ts';
import { ServiceError } from '../../../errors.ts';
import { FormatError } from '../../../trees/format/format-error.ts';
import { Damage } from '../../delta/damage.ts';
import { createFile, openIfThere } from './files.ts';
import { decodeMark, encodeMark, isBefore, MARK_BYTES, type Mark } from './mark.ts';
import { decodeSlot, encodeSlot, FORMAT, SLOT_BYTES, type Slot } from './root-slot.ts';
import type { SyncStep } from './sync-steps.ts';
import type { TreeRoot } from './tree-root.ts';
import type { Unsynced } from './unsynced.ts';

const MARK_AT = 2 * SLOT_BYTES;

interface Found {
  readonly root: TreeRoot;
  readonly slot: number;
  readonly copy: boolean;
}

/**
 * The file with the root: two slots, and the mark. A new root goes into the slot on which nothing depends. When it is durable
 * there, it is copied into the other one, so that each of both is enough. The owner calls `close`.
 */
export class RootFile implements Unsynced {
  readonly #disk: Disk;
  readonly #fd: number;
  /** The root, and the slot that is durable, or will be so first. */
  #last: Found;
  /** A server that was killed leaves slots that no sync has reached, or only one that failed. */
  #isDurable = false;
  #failed = true;
  #mark: Mark | undefined;
  /** The other slot may have an older root, which is the present one again if power is lost before a sync. */
  #hasOlder: boolean;

  private constructor(disk: Disk, fd: number, last: Found, mark: Mark | undefined, hasOlder: boolean) {
    this.#disk = disk;
    this.#fd = fd;
    this.#last = last;
    this.#mark = mark;
    this.#hasOlder = hasOlder;
  }

  /** Not durable. Throws host errors. */
  static create(disk: Disk, path: string, root: TreeRoot): RootFile {
    const slots = [encodeSlot(root, false), encodeSlot(root, true)];
    const fd = createFile(disk, path);
    try {
      for (const [slot, bytes] of slots.entries()) disk.pwrite(fd, bytes, slot * SLOT_BYTES);
      disk.pwrite(fd, Buffer.alloc(MARK_BYTES), MARK_AT);
    } catch (error) {
      disk.close(fd);
      throw error;
    }
    return new RootFile(disk, fd, { root, slot: 0, copy: false }, undefined, false);
  }

  /** undefined: there is none, and as far as is known none was ever durable. Throws Damage, and host errors. */
  static open(disk: Disk, path: string): RootFile | undefined {
    const fd = openIfThere(disk, path);
    if (fd === undefined) return undefined;
    try {
      const bytes = Buffer.alloc(MARK_AT + MARK_BYTES);
      disk.pread(fd, bytes, 0);
      const mark = decodeMark(bytes.subarray(MARK_AT));
      const slots = [0, 1].map((slot) => decodeSlot(bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES)));
      const found = newest(slots);
      // A copy is written when the other slot is durable.
      const isCopied = slots.every((slot) => 'root' in slot && slot.root.generation === found?.root.generation);
      if (found !== undefined) return new RootFile(disk, fd, found, mark, !isCopied);
      if (mark !== undefined) throw new Damage('both copies of its root are damaged', path);
    } catch (error) {
      disk.close(fd);
      if (error instanceof FormatError)
        throw new Damage(`its root is none that a server writes: ${error.message}`, path);
      throw error;
    }
    disk.close(fd);
    return undefined;
  }

  get root(): TreeRoot {
    return this.#last.root;
  }

  /** No crash brings back an older one. */
  get isSole(): boolean {
    return !this.#hasOlder;
  }

  get mark(): Mark | undefined {
    return this.#mark;
  }

  /** Called when all before a place in the journals is durable. Never throws: without a mark, a loss may go unnoticed. */
  markSynced(mark: Mark): void {
    if (this.#mark !== undefined && !isBefore(this.#mark, mark)) return;
    this.#mark = mark;
    try {
      this.#disk.pwrite(this.#fd, encodeMark(mark), MARK_AT);
    } catch {
      // The next one.
    }
  }

  steps(): SyncStep[] {
    if (this.#isDurable) return [];
    // The same bytes as before: the slot stays as it is, whatever part of them is written.
    if (this.#failed) this.#write(this.#last);
    this.#failed = false;
    return [{ datasync: this.#fd }];
  }

  synced(): void {
    this.#isDurable = true;
    this.#hasOlder = false;
  }

  syncFailed(): void {
    this.#failed = true;
  }

  /** The replacement of the root; not before `steps` are durable. */
  replacing(root: TreeRoot): Unsynced {
    const next = { root, slot: 1 - this.#last.slot, copy: false };
    const bytes = encodeSlot(root, false);
    return {
      steps: () => [{ pwrite: this.#fd, bytes, offset: next.slot * SLOT_BYTES }, { datasync: this.#fd }],
      synced: () => {
        this.#last = next;
        this.#copy();
      },
      syncFailed: () => {},
    };
  }

  close(): void {
    this.#disk.close(this.#fd);
  }

  #copy(): void {
    try {
      this.#write({ ...this.#last, slot: 1 - this.#last.slot, copy: true });
    } catch {
      // The durable slot is enough.
    }
  }

  #write({ root, slot, copy }: Found): void {
    this.#disk.pwrite(this.#fd, encodeSlot(root, copy), slot * SLOT_BYTES);
  }
}

/** The newest of both slots; of equal ones that which is not the copy. */
function newest(slots: readonly Slot[]): Found | undefined {
  let found: Found | undefined;
  for (const [slot, each] of slots.entries()) {
    if ('unknownFormat' in each) {
      const text = `the files of the sandbox have format ${each.unknownFormat}, and this server reads format ${FORMAT} only`;
      throw new ServiceError('FAILED_PRECONDITION', text);
    }
    if (!('root' in each)) continue;
    const order = found === undefined ? 1 : each.root.generation - found.root.generation;
    if (order > 0 || (order === 0 && !each.copy)) found = { ...each, slot };
  }
  return found;
}
