import { crc32 } from 'node:zlib';
import { fromLatin1 } from '../../../byte-string.ts';
import { FormatError, require } from '../../../trees/format/format-error.ts';
import { FieldReader, FieldWriter } from './fields.ts';
import type { TreeRoot } from './tree-root.ts';

export const SLOT_BYTES = 4096;
const MAGIC = 'PDRT';
export const FORMAT = 1;
/** Of every format, so that an unknown one is told apart from a damaged one. */
const FORMAT_AT = MAGIC.length;
const COPY_AT = 5;
const HEADER = 8;
const CRC_AT = SLOT_BYTES - 4;

/** What is in one of both places for a root. */
export type Slot =
  /** `copy`: it was written when the other slot was durable, and may be lost. */
  | { readonly root: TreeRoot; readonly copy: boolean }
  | { readonly unknownFormat: number }
  /** Never written, or lost, or changed. */
  | { readonly unreadable: true };

/** `PDRT`, u8 format, u8 whether it is a copy, u16 0, the fields, zeros, and at the end a crc32 of all before it. */
export function encodeSlot(root: TreeRoot, copy: boolean): Buffer {
  const fields = new FieldWriter(SLOT_BYTES);
  fields.take(HEADER);
  writeFields(fields, root);
  if (fields.at > CRC_AT) throw new FormatError(`a root of ${fields.at} bytes: ${CRC_AT} are allowed`);
  const bytes = fields.bytes;
  bytes.fill(0, 0, HEADER);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt8(FORMAT, FORMAT_AT);
  bytes.writeUInt8(copy ? 1 : 0, COPY_AT);
  bytes.fill(0, fields.at);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, CRC_AT)), CRC_AT);
  return bytes;
}

export function decodeSlot(bytes: Buffer): Slot {
  const whole = bytes.length === SLOT_BYTES && bytes.readUInt32LE(CRC_AT) === crc32(bytes.subarray(0, CRC_AT));
  if (!whole || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return { unreadable: true };
  const format = bytes.readUInt8(FORMAT_AT);
  if (format !== FORMAT) return { unknownFormat: format };
  require(bytes.readUInt16LE(COPY_AT + 1) === 0, 'a root with reserved bytes in use');
  const fields = new FieldReader(bytes, HEADER, CRC_AT);
  const root = readFields(fields);
  while (fields.left > 0) require(fields.u8() === 0, 'a root with bytes behind its fields');
  return { root, copy: bytes.readUInt8(COPY_AT) === 1 };
}

function writeFields(to: FieldWriter, root: TreeRoot): void {
  to.u32(root.generation);
  to.u32(root.former.end);
  to.u32(root.former.crc);
  to.u64(root.store);
  to.u32(root.segment);
  to.u32(root.nextSegment);
  to.u32(root.epoch);
  to.u32(root.sharedEpoch);
  to.u48(root.version);
  to.u48(root.ownBytes);
  to.u48(root.ownEntries);
  to.u48(root.retainedBytes);
  to.u48(root.nextSequence);
  to.u48(root.nextNumber);
  to.key(root.slabMaps);
  to.tree(root.mine);
  to.tree(root.base);
  to.u8(root.numbers.length);
  for (const { next, end } of root.numbers) {
    to.u48(next);
    to.u48(end);
  }
  to.u16(root.stores.length);
  for (const store of root.stores) to.u64(store);
  to.u8(root.redactionKeys.length);
  for (const id of root.redactionKeys) to.name(fromLatin1(id));
}

function readFields(from: FieldReader): TreeRoot {
  return {
    generation: from.u32(),
    former: { end: from.u32(), crc: from.u32() },
    store: from.u64(),
    segment: from.u32(),
    nextSegment: from.u32(),
    epoch: from.u32(),
    sharedEpoch: from.u32(),
    version: from.u48(),
    ownBytes: from.u48(),
    ownEntries: from.u48(),
    retainedBytes: from.u48(),
    nextSequence: from.u48(),
    nextNumber: from.u48(),
    slabMaps: from.key(),
    mine: from.tree(),
    base: from.tree(),
    numbers: times(from.u8(), () => ({ next: from.u48(), end: from.u48() })),
    stores: times(from.u16(), () => from.u64()),
    redactionKeys: times(from.u8(), () => from.name()),
  };
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read);
}
