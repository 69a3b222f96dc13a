import type { Disk } from '../../../disk/disk.ts';
import { EIO, ENOSPC, hostErrno } from '../../../linux/errno.ts';
import { FieldWriter } from '../disk/fields.ts';
import { createFile, isFull } from '../disk/files.ts';
import type { JournalEnd } from '../disk/tree-root.ts';
import type { ReadJournal } from './chain.ts';
import { encodeRecord } from './encode-record.ts';
import { FRAME_BYTES, frameAt, sealFrame } from './frames.ts';
import { encodeHeader, HEADER_BYTES, headerCrc, type JournalHeader } from './header.ts';
import { Named } from './named.ts';
import { SALT } from './ops.ts';
import type { JournalRecord } from './records.ts';

/** Zeros are written so far ahead. */
const AHEAD = 64 * 1024;
/** The zeros that only records that free space may use, when the disk is full. */
const RESERVE = 32 * 1024;
/** A buffer for records that has become larger is not kept. */
const KEPT = 64 * 1024;
const ZEROS = Buffer.alloc(AHEAD);

/**
 * A journal that is open for appending. A record is in the page cache completely before the caller goes on: the end of the
 * process loses none. Behind the last one are zeros, so that records need no new space. The owner calls `close`.
 */
export class JournalFile {
  readonly generation: number;
  readonly fd: number;
  readonly named: Named;
  /** Bytes that are durable, for the owner to say. */
  synced = 0;
  readonly #disk: Disk;
  #end: number;
  #crc: number;
  /** Up to here the file has zeros behind its end. */
  #filled: number;
  /** To be written before the next record. */
  #salt: number | undefined;
  #isBroken = false;
  #record = new FieldWriter(256);

  constructor(disk: Disk, { fd, generation, at, named }: ReadJournal, salt?: number) {
    this.#disk = disk;
    this.fd = fd;
    this.generation = generation;
    this.named = named;
    this.#end = at.end;
    this.#crc = at.crc;
    this.#filled = at.end;
    this.#salt = salt;
  }

  /** A new one without records. Throws host errors, with no journal left. */
  static create(disk: Disk, path: string, header: JournalHeader): JournalFile {
    const fd = createFile(disk, path);
    try {
      const bytes = encodeHeader(header);
      disk.pwrite(fd, bytes, 0);
      const at = { end: HEADER_BYTES, crc: headerCrc(bytes) };
      const file = new JournalFile(disk, { fd, generation: header.generation, at, named: new Named() });
      file.#fill(AHEAD);
      return file;
    } catch (error) {
      disk.close(fd);
      disk.unlink(path);
      throw error;
    }
  }

  get at(): JournalEnd {
    return { end: this.#end, crc: this.#crc };
  }

  get isEmpty(): boolean {
    return this.#end === HEADER_BYTES;
  }

  /** `makesRoom`: it frees space, so it may use the reserve of a full disk. Throws host errors with nothing appended. */
  append(record: JournalRecord, makesRoom: boolean): void {
    if (this.#isBroken) throw EIO;
    const fields = this.#record;
    fields.at = 0;
    let crc = this.#crc;
    if (this.#salt !== undefined) crc = this.#encodeSalt(fields, this.#salt, crc);
    const at = fields.take(FRAME_BYTES);
    encodeRecord(fields, record);
    crc = sealFrame(fields.bytes, at, fields.at, crc);
    this.#makeRoom(fields.at, makesRoom);
    this.#write(fields.bytes.subarray(0, fields.at));
    this.named.note(record);
    this.#salt = undefined;
    this.#end += fields.at;
    this.#crc = crc;
    if (fields.bytes.length > KEPT) this.#record = new FieldWriter(256);
  }

  /** After a failed sync: writes all records again. Throws EIO if the host has not kept them. */
  rewrite(): void {
    const bytes = Buffer.alloc(this.#end);
    this.#disk.pread(this.fd, bytes, 0);
    let at: JournalEnd | undefined = { end: HEADER_BYTES, crc: headerCrc(bytes) };
    while (at !== undefined && at.end < bytes.length) at = frameAt(bytes, at.end, at.crc);
    if (at?.crc !== this.#crc) throw EIO;
    this.#disk.pwrite(this.fd, bytes, 0);
  }

  close(): void {
    this.#disk.close(this.fd);
  }

  #encodeSalt(fields: FieldWriter, salt: number, crc: number): number {
    const at = fields.take(FRAME_BYTES);
    fields.u8(SALT);
    fields.u32(salt);
    return sealFrame(fields.bytes, at, fields.at, crc);
  }

  #makeRoom(length: number, makesRoom: boolean): void {
    if (this.#filled - this.#end - length >= RESERVE) return;
    try {
      this.#fill(this.#end + length + AHEAD);
    } catch (error) {
      if (!isFull(error)) throw hostErrno(error);
      // A full disk has taken a part of the zeros.
      this.#filled = Math.max(this.#filled, this.#disk.size(this.fd));
      const left = this.#filled - this.#end - length;
      if (left < (makesRoom ? 0 : RESERVE)) throw ENOSPC;
    }
  }

  /** Writes zeros up to a place. */
  #fill(to: number): void {
    while (this.#filled < to) {
      const length = Math.min(AHEAD, to - this.#filled);
      this.#disk.pwrite(this.fd, ZEROS.subarray(0, length), this.#filled);
      this.#filled += length;
    }
  }

  #write(bytes: Buffer): void {
    try {
      this.#disk.pwrite(this.fd, bytes, this.#end);
    } catch (error) {
      this.#wipe(bytes.length);
      throw hostErrno(error);
    }
  }

  /** Removes what was written of a record. If even that fails, nothing more may be appended. */
  #wipe(length: number): void {
    try {
      this.#disk.pwrite(this.fd, Buffer.alloc(length), this.#end);
    } catch {
      this.#isBroken = true;
    }
  }
}
