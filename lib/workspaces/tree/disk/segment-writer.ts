import { crc32 } from 'node:zlib';
import type { Disk } from '../../../disk/disk.ts';
import type { Seed } from '../../../trees/directory/name-hash.ts';
import type { Sink } from '../../../trees/directory/source.ts';
import type { DirectoryObject } from '../../../trees/format/directory-object.ts';
import { type Key, placeKey } from '../../../trees/format/keys.ts';
import { openIfThere } from './files.ts';
import type { NewNames } from './new-names.ts';
import type { ObjectCache } from './object-cache.ts';
import { createSegment, SEGMENTS, type SegmentNumbers, segmentPath } from './segments.ts';
import type { SyncStep } from './sync-steps.ts';
import type { TreeRoot } from './tree-root.ts';
import type { Unsynced } from './unsynced.ts';

/** A segment ends before an object that would make it longer. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

export interface SegmentsIn {
  readonly disk: Disk;
  /** Of the sandbox's store. */
  readonly folder: string;
  readonly store: bigint;
  readonly names: NewNames;
  readonly cache: ObjectCache;
  readonly seed: Seed;
}

interface Written {
  readonly fd: number;
  readonly bytes: Buffer;
  readonly offset: number;
}

/**
 * Appends objects to the segments of one store; it is the only writer of those it creates. A place is a name: no place gets
 * other bytes. The owner calls `close`.
 */
export class SegmentWriter implements Sink, Unsynced {
  readonly #in: SegmentsIn;
  readonly #numbers: SegmentNumbers;
  #segment: number;
  /** Of the segment; undefined before the first object. */
  #fd: number | undefined;
  #end = 0;
  /** Full ones, until they are durable. */
  #full: number[] = [];
  /** What no sync has covered yet, in order. A failed sync may have lost it. */
  #unsynced: Written[] = [];
  #covered = 0;
  #failed = false;
  /** What `whole` has put. */
  #put: Key[] = [];

  /** Goes on in a segment of its own; 0: it has none yet. */
  constructor(where: SegmentsIn, segment: number, numbers: SegmentNumbers) {
    this.#in = where;
    this.#segment = segment;
    this.#numbers = numbers;
  }

  /** For the root. */
  get last(): Pick<TreeRoot, 'segment' | 'nextSegment'> {
    return { segment: this.#segment, nextSegment: this.#numbers.next };
  }

  get seed(): Seed {
    return this.#in.seed;
  }

  put(object: DirectoryObject): Key {
    const key = this.putBytes(object.bytes);
    this.#in.cache.add(key, object);
    return key;
  }

  /** Bytes of which only the owner knows the meaning. */
  putBytes(bytes: Buffer): Key {
    const fd = this.#segmentFor(bytes.length);
    const offset = this.#end;
    this.#in.disk.pwrite(fd, bytes, offset);
    this.#end += bytes.length;
    this.#unsynced.push({ fd, bytes, offset });
    const { store } = this.#in;
    const key = placeKey({ store, segment: this.#segment, offset, length: bytes.length, crc: crc32(bytes) });
    this.#put.push(key);
    return key;
  }

  /** What `run` puts stays as a whole; if it throws, the space is given back, which a full disk needs. */
  whole<T>(run: () => T): T {
    this.#fd ??= this.#openLast();
    const before = { segment: this.#segment, end: this.#end, unsynced: this.#unsynced.length };
    this.#put = [];
    try {
      return run();
    } catch (error) {
      for (const key of this.#put) this.#in.cache.delete(key);
      this.#unsynced.length = before.unsynced;
      this.#cut(before.segment === this.#segment ? before.end : 0);
      throw error;
    } finally {
      this.#put = [];
    }
  }

  steps(): SyncStep[] {
    if (this.#failed) for (const { fd, bytes, offset } of this.#unsynced) this.#in.disk.pwrite(fd, bytes, offset);
    this.#failed = false;
    this.#covered = this.#unsynced.length;
    return [...new Set(this.#unsynced.map(({ fd }) => fd))].map((fd) => ({ datasync: fd }));
  }

  synced(): void {
    this.#unsynced.splice(0, this.#covered);
    const needed = new Set(this.#unsynced.map(({ fd }) => fd));
    for (const fd of this.#full) if (!needed.has(fd)) this.#in.disk.close(fd);
    this.#full = this.#full.filter((fd) => needed.has(fd));
  }

  syncFailed(): void {
    this.#failed = true;
  }

  close(): void {
    for (const fd of this.#full) this.#in.disk.close(fd);
    if (this.#fd !== undefined) this.#in.disk.close(this.#fd);
    this.#full = [];
    this.#fd = undefined;
  }

  #segmentFor(length: number): number {
    this.#fd ??= this.#openLast();
    if (this.#fd !== undefined && (this.#end === 0 || this.#end + length <= SEGMENT_BYTES)) return this.#fd;
    const { disk, folder, names } = this.#in;
    const { fd, segment } = createSegment(disk, folder, this.#numbers);
    names.add(folder);
    names.add(`${folder}/${SEGMENTS}`);
    if (this.#fd !== undefined) this.#full.push(this.#fd);
    this.#fd = fd;
    this.#segment = segment;
    this.#end = 0;
    return fd;
  }

  /** It goes on behind what is there, also where no root names that: objects in caches have those places. */
  #openLast(): number | undefined {
    const { disk, folder } = this.#in;
    const fd = openIfThere(disk, segmentPath(folder, this.#segment));
    if (fd !== undefined) this.#end = disk.size(fd);
    return fd;
  }

  #cut(end: number): void {
    if (this.#fd === undefined) return;
    this.#end = end;
    try {
      this.#in.disk.truncate(this.#fd, end);
    } catch {
      // What is behind the end is overwritten.
    }
  }
}
