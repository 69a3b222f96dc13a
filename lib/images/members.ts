import { invalidArchive } from '../archive/invalid-archive.ts';
import { paxRecords } from '../archive/pax-records.ts';
import {
  BLOCK,
  checkHeader,
  type Entry,
  type ExtendedFields,
  entryOf,
  isEnd,
  sizeOf,
  textAt,
  typeOf,
} from '../archive/tar-header.ts';
import { ByteReader } from './byte-reader.ts';

/** A member of a layer, which is unpacked before the next one is read. */
export interface Member extends Entry {
  /** To be consumed at most once, before the next member is requested; unread content is skipped. */
  content: AsyncIterable<Uint8Array>;
}

/** Maximum bytes of an extended header or long name: far above any path. */
const MAX_RECORD = 64 * 1024;
/** Writers pad archives to complete records. */
const MAX_PADDING = 1 << 20;
/** Devices and FIFOs. */
const SPECIAL = '346';

/**
 * Yields the members of an archive one by one, without devices and FIFOs. Throws INVALID_ARGUMENT for data that is not an
 * archive or is truncated.
 */
export async function* membersOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Member, void, void> {
  const reader = new ByteReader(source);
  try {
    let fields: ExtendedFields = {};
    for (;;) {
      const header = await reader.take(BLOCK);
      if (header === undefined) throw invalidArchive('it is truncated');
      if (isEnd(header)) break;
      checkHeader(header);
      const type = typeOf(header);
      if ('xgLK'.includes(type)) {
        fields = { ...fields, ...recordOf(type, await wholeRecord(reader, sizeOf(header))) };
        continue;
      }
      if (SPECIAL.includes(type)) await reader.skip(padded(sizeOf(header)));
      else {
        const entry = entryOf(header, fields);
        const rest = { left: entry.size };
        yield { ...entry, content: contentOf(reader, rest) };
        await reader.skip(rest.left + padded(entry.size) - entry.size);
      }
      fields = {};
    }
    await reader.skip(MAX_PADDING);
  } finally {
    await reader.close();
  }
}

async function* contentOf(reader: ByteReader, rest: { left: number }): AsyncGenerator<Uint8Array, void, void> {
  while (rest.left > 0) {
    const chunk = await reader.next(rest.left);
    if (chunk === undefined) throw invalidArchive('it is truncated');
    rest.left -= chunk.length;
    yield chunk;
  }
}

function recordOf(type: string, record: Buffer): ExtendedFields {
  if (type === 'x') return paxRecords(record);
  if (type === 'L') return { path: textAt(record, 0, record.length) };
  return type === 'K' ? { linkpath: textAt(record, 0, record.length) } : {};
}

async function wholeRecord(reader: ByteReader, size: number): Promise<Buffer> {
  if (size > MAX_RECORD) throw invalidArchive(`a record has more than ${MAX_RECORD} bytes`);
  const record = await reader.take(padded(size));
  if (record === undefined) throw invalidArchive('it is truncated');
  return record.subarray(0, size);
}

const padded = (size: number) => Math.ceil(size / BLOCK) * BLOCK;
