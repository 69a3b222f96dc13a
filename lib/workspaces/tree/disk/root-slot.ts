import { crc32 } from 'node:zlib';
import { fromLatin1 } from '../../../byte-string.ts';
import { ServiceError } from '../../../errors.ts';
import { require } from '../../../trees/format/format-error.ts';
import { FieldReader, FieldWriter } from './fields.ts';
import type { TreeRoot } from './tree-root.ts';

const PAGE = 4096;
const MAX_PAGES = 16;
/** Room for one. Most roots take a page; one that names the stores of many forks takes more. */
export const SLOT_BYTES = MAX_PAGES * PAGE;
const MAGIC = 'PDRT';
export const FORMAT = 1;
/** Of every format, so that an unknown one is told apart from a damaged one. */
const FORMAT_AT = MAGIC.length;
const COPY_AT = 5;
/** Also of every format, as is the place of the checksum. */
const PAGES_AT = 6;
const HEADER = 8;
const CRC_BYTES = 4;

/** What is in one of both places for a root. */
export type Slot =
  /** `copy`: it was written when the other slot was durable, and may be lost. */
  | { readonly root: TreeRoot; readonly copy: boolean }
  | { readonly unknownFormat: number }
  /** Never written, or lost, or changed. */
  | { readonly unreadable: true };

/**
 * `PDRT`, u8 format, u8 whether it is a copy, u16 pages, the fields, zeros, and at the end of the pages a crc32 of all before
 * it. Throws RESOURCE_EXHAUSTED for a root that a slot does not hold.
 */
export function encodeSlot(root: TreeRoot, copy: boolean): Buffer {
  const fields = new FieldWriter(PAGE);
  fields.take(HEADER);
  writeFields(fields, root);
  const pages = Math.ceil((fields.at + CRC_BYTES) / PAGE);
  if (pages > MAX_PAGES) throw tooLarge(root, fields.at);
  const bytes = Buffer.alloc(pages * PAGE);
  fields.bytes.copy(bytes, HEADER, HEADER, fields.at);
  bytes.write(MAGIC, 0, 'latin1');
  bytes.writeUInt8(FORMAT, FORMAT_AT);
  bytes.writeUInt8(copy ? 1 : 0, COPY_AT);
  bytes.writeUInt16LE(pages, PAGES_AT);
  const crcAt = bytes.length - CRC_BYTES;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, crcAt)), crcAt);
  return bytes;
}

function tooLarge({ stores, numbers, redactionKeys }: TreeRoot, bytes: number): ServiceError {
  const names = `${stores.length} stores of other sandboxes, ${numbers.length} ranges of numbers and ${redactionKeys.length} keys`;
  const text = `the root of the sandbox names ${names}, in ${bytes} bytes; ${SLOT_BYTES - CRC_BYTES} are allowed`;
  return new ServiceError('RESOURCE_EXHAUSTED', text);
}

/** `bytes`: as many as a slot has room for, or less at the end of the file. */
export function decodeSlot(bytes: Buffer): Slot {
  const crcAt = (bytes.length < HEADER ? 0 : bytes.readUInt16LE(PAGES_AT)) * PAGE - CRC_BYTES;
  const isHere = crcAt > 0 && crcAt + CRC_BYTES <= bytes.length;
  const whole = isHere && bytes.readUInt32LE(crcAt) === crc32(bytes.subarray(0, crcAt));
  if (!whole || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return { unreadable: true };
  const format = bytes.readUInt8(FORMAT_AT);
  if (format !== FORMAT) return { unknownFormat: format };
  const fields = new FieldReader(bytes, HEADER, crcAt);
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
  to.u16(root.numbers.length);
  for (const { next, end } of root.numbers) {
    to.u48(next);
    to.u48(end);
  }
  to.u16(root.stores.length);
  for (const store of root.stores) to.u64(store);
  to.u16(root.redactionKeys.length);
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
    numbers: times(from.u16(), () => ({ next: from.u48(), end: from.u48() })),
    stores: times(from.u16(), () => from.u64()),
    redactionKeys: times(from.u16(), () => from.name()),
  };
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read);
}
