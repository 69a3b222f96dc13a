import { fromBuffer } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';
import { invalidArchive } from './invalid-archive.ts';
import type { ExtendedFields } from './tar-header.ts';

/** Reads a sequence of `<length> <key>=<value>`, each with a newline. Throws INVALID_ARGUMENT for other data. */
export function paxRecords(record: Buffer): ExtendedFields {
  const fields: ExtendedFields = {};
  for (let at = 0; at < record.length; ) {
    const space = record.indexOf(0x20, at);
    const length = Number(record.toString('latin1', at, Math.max(at, space)));
    const equals = record.indexOf(0x3d, space);
    const end = at + length;
    const isWhole = space > at && Number.isInteger(length) && equals > space && equals < end && end <= record.length;
    if (!isWhole || record[end - 1] !== 0x0a) throw invalidArchive('a record is malformed');
    const key = record.toString('latin1', space + 1, equals);
    const value = fromBuffer(record, equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) throw invalidArchive('it contains a sparse file, which is not supported');
    if (key === 'path') fields.path = value;
    if (key === 'linkpath') fields.linkpath = value;
    if (key === 'size') fields.size = decimal(value, 'size');
    if (key === 'mtime') fields.mtime = timeOf(value);
    at = end;
  }
  return fields;
}

function decimal(text: string, what: string): number {
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) throw invalidArchive(`a record has an invalid ${what}`);
  return value;
}

/** Seconds with a fraction, possibly before 1970. */
function timeOf(text: string): Time {
  const parts = /^(-?)(\d{1,12})(?:\.(\d*))?$/.exec(text);
  if (parts === null) throw invalidArchive('a record has an invalid mtime');
  const [, sign, whole, fraction = ''] = parts;
  const sec = Number(whole);
  const nsec = Number(fraction.slice(0, 9).padEnd(9, '0'));
  if (sign === '') return { sec, nsec };
  return nsec === 0 ? { sec: 0 - sec, nsec } : { sec: -1 - sec, nsec: 1_000_000_000 - nsec };
}
