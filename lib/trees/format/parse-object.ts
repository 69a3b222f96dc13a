import { checkEntry } from './check-entry.ts';
import { DirectoryObject, FORMAT, HEADER, MAGIC, OFFSET_BYTES } from './directory-object.ts';
import { FormatError, require } from './format-error.ts';
import { isKeyAt, KEY_BYTES, KIND } from './keys.ts';
import { MAX_LEVEL, MAX_RECORDS } from './limits.ts';
import { sumTotals } from './sum-totals.ts';
import { equalTotals, TOTALS_BYTES } from './totals.ts';

/**
 * The object of these bytes. Throws a FormatError unless they are exactly what the encoder makes of some records: so one
 * directory has one form, and nothing that is read from them leaves the buffer.
 */
export function parseObject(bytes: Buffer): DirectoryObject {
  if (!(bytes.length >= HEADER.bytes)) throw new FormatError(`${bytes.length} bytes are less than a header`);
  require(bytes.toString('latin1', HEADER.magic, MAGIC.length) === MAGIC, 'no directory object');
  const format = bytes.readUInt8(HEADER.format);
  if (!(format === FORMAT)) throw new FormatError(`a directory object of format ${format}: this is ${FORMAT}`);
  const level = bytes.readUInt8(HEADER.level);
  if (!(level <= MAX_LEVEL)) throw new FormatError(`level ${level}`);
  require(bytes.readUInt16LE(HEADER.reserved) === 0, 'reserved bytes are in use');
  const count = bytes.readUInt32LE(HEADER.count);
  // An empty directory has no object.
  if (!(count > 0 && count <= MAX_RECORDS)) throw new FormatError(`${count} records`);
  const table = bytes.readUInt32LE(HEADER.table);
  require(table === bytes.length - count * OFFSET_BYTES && table >= HEADER.bytes, 'the table is at a wrong place');
  const object = new DirectoryObject(bytes);
  checkRecords(object, level === 0 ? checkEntry : checkItem);
  require(equalTotals(sumTotals(object), object.totals), 'the totals are not those of the records');
  return object;
}

type Check = (bytes: Buffer, start: number, end: number) => number;

/** `check` answers with the end of the record. */
function checkRecords(object: DirectoryObject, check: Check): void {
  let end: number = HEADER.bytes;
  for (let index = 0; index < object.count; index++) {
    if (!(object.start(index) === end)) throw new FormatError(`record ${index} is at a wrong place`);
    end = checked(object, check, index);
    if (index > 0)
      require(object.compareNames(index - 1, object, index) <
        0, `record ${index}: its name is not after the one before`);
  }
  require(end === object.start(object.count), 'there are bytes between the records and the table');
}

function checked(object: DirectoryObject, check: Check, index: number): number {
  try {
    return check(object.bytes, object.start(index), object.start(object.count));
  } catch (error) {
    if (error instanceof FormatError) throw new FormatError(`record ${index}: ${error.message}`);
    throw error;
  }
}

function checkItem(bytes: Buffer, start: number, limit: number): number {
  require(start < limit, 'it is beyond the records');
  const length = bytes.readUInt8(start);
  const keyAt = start + 1 + length;
  const end = keyAt + KEY_BYTES + 4 + TOTALS_BYTES;
  require(end <= limit, 'it is longer than the records');
  require(length > 0, 'an empty name');
  const kind = bytes.readUInt8(keyAt);
  require((kind === KIND.hash || kind === KIND.place) && isKeyAt(bytes, keyAt), 'no key of an object');
  require(bytes.readUInt32LE(keyAt + KEY_BYTES) > 0, 'an object without entries');
  return end;
}
