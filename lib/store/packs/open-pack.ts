import { randomBytes } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import { FormatError } from '../../trees/format/format-error.ts';
import type { Key } from '../../trees/format/keys.ts';
import { MAX_PAYLOAD, SEAL_AT, type SealAt } from '../limits.ts';
import type { OpenFiles } from '../open-files.ts';
import { encodeIndex } from './index-rows.ts';
import { holds, type Pack, quietly } from './pack.ts';
import {
  isPackHeader,
  PACK_HEADER,
  type Packed,
  packHeader,
  RECORD_HEADER,
  type RecordKind,
  seedOf,
  writeRecord,
} from './record.ts';
import { scan } from './scan.ts';

/** Records are written together up to so many bytes. */
const BUFFER = 256 * 1024;

export interface PackPlace {
  readonly disk: Disk;
  readonly files: OpenFiles;
  /** The folder of packs. */
  readonly folder: string;
  /** Where packs are while they are open; the same folder for their owner. */
  readonly open: string;
  readonly sealAt?: SealAt;
}

/**
 * The pack that its one writer appends to. What was not synced can be lost again: by a write that fails (its records leave the
 * pack, and the file is cut back), and by a sync that fails (all unsynced ones leave it, and the pack is closed for good:
 * after a failed fdatasync nobody knows what is on the disk).
 */
export class OpenPack implements Pack {
  readonly name: string;
  readonly seed: number;
  readonly sealed = false;
  readonly #place: PackPlace;
  readonly #records = new Map<Key, Packed>();
  /** By their offsets. */
  #unsynced: Packed[] = [];
  /** Of the file, without what is in the buffer. */
  #end: number;
  /** The end of what is durable. */
  #synced: number;
  #buffer = Buffer.alloc(0);
  #buffered = 0;
  /** Open from the first write to the sync. */
  #writer: number | undefined;
  #isNamed: boolean;
  #isClosed = false;
  /** Is told which objects are gone. */
  onLost: (keys: readonly Key[]) => void = () => {};

  private constructor(place: PackPlace, name: string, end: number, isNamed: boolean) {
    this.#place = place;
    this.name = name;
    this.seed = seedOf(name);
    this.#end = end;
    this.#synced = end;
    this.#isNamed = isNamed;
  }

  static create(place: PackPlace): OpenPack {
    const pack = new OpenPack(place, randomBytes(16).toString('hex'), 0, false);
    pack.#writer = place.disk.open(pack.#path, 'create');
    pack.#append(packHeader(pack.name));
    return pack;
  }

  /** One that a writer left: cut after its last record whose digest matches, and synced. undefined: it has none, and is gone. */
  static reopen(place: PackPlace, name: string): OpenPack | undefined {
    const { disk } = place;
    const pack = new OpenPack(place, name, PACK_HEADER, true);
    const fd = disk.open(pack.#path, 'write');
    try {
      for (const record of scan(disk, fd, pack.seed)) {
        pack.#records.set(record.key, record);
        pack.#end = record.offset + record.length;
      }
      pack.#synced = pack.#end;
      const header = Buffer.alloc(PACK_HEADER);
      disk.pread(fd, header, 0);
      if (!isPackHeader(header, name)) disk.pwrite(fd, packHeader(name), 0);
      if (disk.size(fd) !== pack.#end) disk.truncate(fd, pack.#end);
      disk.datasync(fd);
    } finally {
      disk.close(fd);
    }
    if (pack.objects > 0) return pack;
    disk.unlink(pack.#path);
    return undefined;
  }

  get objects(): number {
    return this.#records.size;
  }

  get bytes(): number {
    return this.#end + this.#buffered;
  }

  /** It takes no more records: it is full, or broke. */
  get isFull(): boolean {
    const { objects, bytes } = this.#place.sealAt ?? SEAL_AT;
    return this.#isClosed || this.objects >= objects || this.bytes >= bytes;
  }

  find(key: Key): Packed | undefined {
    return this.#records.get(key);
  }

  records(): Iterable<Packed> {
    return this.#records.values();
  }

  append(kind: RecordKind, key: Key, payload: Uint8Array): Packed {
    const known = this.#records.get(key);
    if (known !== undefined && holds(this, known, payload)) return known;
    if (payload.length > MAX_PAYLOAD)
      throw new FormatError(`an object of ${payload.length} bytes: at most ${MAX_PAYLOAD}`);
    const length = RECORD_HEADER + payload.length;
    if (this.#buffered > 0 && this.#buffered + length > BUFFER) this.#flush();
    const record = { key, kind, offset: this.bytes + RECORD_HEADER, length: payload.length };
    const at = this.#room(length);
    writeRecord(this.#buffer, at, this.seed, record);
    this.#buffer.set(payload, at + RECORD_HEADER);
    this.#records.set(key, record);
    this.#unsynced.push(record);
    return record;
  }

  /** All of its records are durable; else those that were not are gone, and it throws. */
  sync(): void {
    if (this.#unsynced.length === 0) return;
    this.#flush();
    const { disk, open } = this.#place;
    try {
      disk.datasync(this.#writing());
      if (!this.#isNamed) disk.syncFolder(open);
    } catch (error) {
      this.#isClosed = true;
      // Their pages may count as clean: a later process would read them, and believe that they are durable.
      quietly(() => disk.truncate(this.#writing(), this.#synced));
      this.#lose(this.#synced);
      throw error;
    } finally {
      this.#stopWriting();
    }
    this.#isNamed = true;
    this.#synced = this.#end;
    this.#unsynced = [];
    this.#buffer = Buffer.alloc(0);
  }

  /** After a sync: gives it its index and its last name. false: it could not be written, so the pack stays as it is. */
  seal(): boolean {
    const { disk, files, folder } = this.#place;
    this.#isClosed = true;
    const index = encodeIndex(this.#records.values(), this.#end);
    const sealed = quietly(() => {
      disk.pwrite(this.#writing(), index, this.#end);
      disk.datasync(this.#writing());
      files.forget(this.#path);
      disk.rename(this.#path, sealedPath(folder, this.name));
    });
    if (!sealed) quietly(() => disk.truncate(this.#writing(), this.#end));
    this.#stopWriting();
    // Under either name it is found at the next start.
    if (sealed) quietly(() => disk.syncFolder(folder));
    return sealed;
  }

  read(record: Packed): Buffer {
    const start = record.offset - RECORD_HEADER;
    const bytes = Buffer.allocUnsafeSlow(RECORD_HEADER + record.length);
    if (start >= this.#end) {
      this.#buffer.copy(bytes, 0, start - this.#end, start - this.#end + bytes.length);
      return bytes;
    }
    const { disk, files } = this.#place;
    return bytes.subarray(0, disk.pread(files.fd(this.#path), bytes, start));
  }

  fd(record: Packed): number {
    if (record.offset >= this.#end) this.#flush();
    return this.#place.files.fd(this.#path);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopWriting();
    this.#place.files.forget(this.#path);
  }

  remove(): void {
    this.close();
    this.#place.disk.unlink(this.#path);
  }

  get #path(): string {
    return openPath(this.#place.open, this.name);
  }

  #append(bytes: Buffer): void {
    bytes.copy(this.#buffer, this.#room(bytes.length));
  }

  /** Where so many more bytes go in the buffer. */
  #room(length: number): number {
    const at = this.#buffered;
    if (at + length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(at + length, Math.min(BUFFER, 4 * this.#buffer.length)));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    this.#buffered += length;
    return at;
  }

  #flush(): void {
    if (this.#buffered === 0) return;
    const { disk } = this.#place;
    try {
      disk.pwrite(this.#writing(), this.#buffer.subarray(0, this.#buffered), this.#end);
    } catch (error) {
      quietly(() => disk.truncate(this.#writing(), this.#end));
      this.#lose(this.#end);
      throw error;
    }
    this.#end += this.#buffered;
    this.#buffered = 0;
  }

  /** Records from this place on are in the pack no more. A new pack without any begins anew. */
  #lose(from: number): void {
    const kept = this.#unsynced.findIndex(({ offset }) => offset >= from);
    const lost = kept < 0 ? [] : this.#unsynced.splice(kept);
    for (const { key } of lost) this.#records.delete(key);
    this.#end = from;
    this.#buffered = 0;
    if (this.#end === 0) this.#isClosed = true;
    this.onLost(lost.map(({ key }) => key));
  }

  #writing(): number {
    if (this.#writer !== undefined) return this.#writer;
    const { disk } = this.#place;
    this.#writer = disk.open(this.#path, 'write');
    // What an earlier cut could not take away.
    if (disk.size(this.#writer) > this.#end) disk.truncate(this.#writer, this.#end);
    return this.#writer;
  }

  #stopWriting(): void {
    const fd = this.#writer;
    this.#writer = undefined;
    if (fd !== undefined) quietly(() => this.#place.disk.close(fd));
  }
}

function openPath(folder: string, name: string): string {
  return `${folder}/${name}.open`;
}

export function sealedPath(folder: string, name: string): string {
  return `${folder}/${name}.pack`;
}
