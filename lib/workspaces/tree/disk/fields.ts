import { type ByteString, fromBuffer, fromLatin1, NO_BYTES } from '../../../byte-string.ts';
import { checkEntry } from '../../../trees/format/check-entry.ts';
import { type DirectoryEntry, type Entry, isDirectory, named } from '../../../trees/format/entry.ts';
import { FormatError, require } from '../../../trees/format/format-error.ts';
import { readI48, readU48, writeI48, writeU48 } from '../../../trees/format/integers.ts';
import { isKeyAt, KEY_BYTES, type Key, readKey, writeKey } from '../../../trees/format/keys.ts';
import { ENTRIES } from '../../../trees/format/records.ts';

/** Entries have names on the disk. The root of a tree has none elsewhere. */
const ROOT_NAME = fromLatin1('root');

/** Appends fields to a buffer, which grows. */
export class FieldWriter {
  bytes: Buffer;
  at = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  u8(value: number): void {
    const at = this.take(1);
    this.bytes.writeUInt8(value, at);
  }

  u16(value: number): void {
    const at = this.take(2);
    this.bytes.writeUInt16LE(value, at);
  }

  u32(value: number): void {
    const at = this.take(4);
    this.bytes.writeUInt32LE(value, at);
  }

  u48(value: number): void {
    const at = this.take(6);
    writeU48(this.bytes, value, at);
  }

  i48(value: number): void {
    const at = this.take(6);
    writeI48(this.bytes, value, at);
  }

  u64(value: bigint): void {
    const at = this.take(8);
    this.bytes.writeBigUInt64LE(value, at);
  }

  key(key: Key): void {
    const at = this.take(KEY_BYTES);
    writeKey(this.bytes, key, at);
  }

  flag(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  /** Up to 255 bytes, after their number. */
  name(name: ByteString): void {
    const at = this.take(1 + name.length);
    this.bytes.writeUInt8(name.length, at);
    this.bytes.write(name, at + 1, 'latin1');
  }

  entry(entry: Entry): void {
    const at = this.take(ENTRIES.size(entry));
    ENTRIES.write(this.bytes, entry, at);
  }

  /** The root of a tree. */
  tree(root: DirectoryEntry): void {
    this.entry(named(root, ROOT_NAME));
  }

  /** Makes room for so many bytes. Returns where they begin. */
  take(length: number): number {
    const at = this.at;
    this.at = at + length;
    if (this.at > this.bytes.length) this.#grow();
    return at;
  }

  #grow(): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.at, this.bytes.length * 2));
    this.bytes.copy(larger);
    this.bytes = larger;
  }
}

/** Reads what a FieldWriter wrote. Throws a FormatError for what is no such field, or ends too early. */
export class FieldReader {
  readonly bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  u8(): number {
    return this.bytes.readUInt8(this.#take(1));
  }

  u16(): number {
    return this.bytes.readUInt16LE(this.#take(2));
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.#take(4));
  }

  u48(): number {
    return readU48(this.bytes, this.#take(6));
  }

  i48(): number {
    return readI48(this.bytes, this.#take(6));
  }

  u64(): bigint {
    return this.bytes.readBigUInt64LE(this.#take(8));
  }

  key(): Key {
    const at = this.#take(KEY_BYTES);
    require(isKeyAt(this.bytes, at), 'no key');
    return readKey(this.bytes, at);
  }

  name(): ByteString {
    const length = this.u8();
    const at = this.#take(length);
    return fromBuffer(this.bytes, at, at + length);
  }

  entry(): Entry {
    const at = this.#at;
    this.#at = checkEntry(this.bytes, at, this.#end);
    return ENTRIES.read(this.bytes, at);
  }

  tree(): DirectoryEntry {
    const entry = named(this.entry(), NO_BYTES);
    if (!isDirectory(entry)) throw new FormatError(`a root of type ${entry.type}`);
    return entry;
  }

  /** A u8 of 0 or 1. */
  flag(): boolean {
    const value = this.u8();
    if (value > 1) throw new FormatError(`a flag of ${value}`);
    return value === 1;
  }

  /** Refuses what is left. */
  end(): void {
    if (this.left > 0) throw new FormatError(`${this.left} bytes too many`);
  }

  #take(length: number): number {
    const at = this.#at;
    require(at + length <= this.#end, 'it ends within a field');
    this.#at = at + length;
    return at;
  }
}
