import { randomInt } from 'node:crypto';
import type { ByteString } from '../../byte-string.ts';
import type { Steps } from '../../fuse/connection/steps.ts';
import { ESTALE } from '../../linux/errno.ts';
import type { Time } from '../../linux/time.ts';
import type { FileBody } from '../delta/index/records.ts';
import type { ArchiveMember, UnpackedCounts } from '../workspace-files.ts';

/** The content of a file, which several members may share: a staged file, or a location that no record names yet. */
export interface CollectedFile {
  type: 'file';
  mode: number;
  mtime: Time;
  size: number;
  handle: number | undefined;
  body: FileBody | undefined;
  /** Its inode, once it has one. */
  id: number | undefined;
}

export type Collected =
  | CollectedFile
  | { type: 'directory'; mode: number; mtime: Time }
  | { type: 'symlink'; target: ByteString; mtime: Time };

/** An archive that is being unpacked. */
export interface HeldArchive {
  /** Files and symlinks, and contents in locations, that count for the quota only at the end. */
  readonly pending: { files: number; bytes: number };
  /** Bytes in use. */
  readonly memory: number;
  /** Adds members in the order of the archive; of several with one path the last one counts. `data`: small contents. */
  add(members: readonly ArchiveMember[], data: Uint8Array): Steps<void>;
  /** Directories before their entries, then all others. */
  inOrder(): Steps<[path: ByteString, member: Collected][]>;
  counts(): Steps<UnpackedCounts>;
  /** Called when the members have names: removes contents without one. */
  adopt(): Steps<void>;
  /** Removes all contents. */
  drop(): Steps<void>;
}

/** The archives that are being unpacked into one workspace. */
export class Unpackings {
  readonly #byHandle = new Map<number, HeldArchive>();

  get pending(): { files: number; bytes: number } {
    const pending = { files: 0, bytes: 0 };
    for (const each of this.#byHandle.values()) {
      pending.files += each.pending.files;
      pending.bytes += each.pending.bytes;
    }
    return pending;
  }

  /** Bytes in use. */
  get memory(): number {
    if (this.#byHandle.size === 0) return 0;
    let memory = 0;
    for (const each of this.#byHandle.values()) memory += each.memory;
    return memory;
  }

  /** Returns a new handle, which is random as those of files are. */
  begin(unpacking: HeldArchive): number {
    const handle = randomInt(1, 2 ** 47);
    this.#byHandle.set(handle, unpacking);
    return handle;
  }

  /** Throws ESTALE for an unknown handle. */
  get(handle: number): HeldArchive {
    const unpacking = this.#byHandle.get(handle);
    if (unpacking === undefined) throw ESTALE;
    return unpacking;
  }

  /** Ends one; undefined for an unknown handle. */
  end(handle: number): HeldArchive | undefined {
    const unpacking = this.#byHandle.get(handle);
    this.#byHandle.delete(handle);
    return unpacking;
  }

  /** Ends all, whose contents have gone with their layer. */
  endAll(): void {
    this.#byHandle.clear();
  }
}
