import { describe, expect, it } from 'vitest';
import { FormatError } from '../../../../../lib/trees/format/format-error.ts';
import { FieldReader, FieldWriter } from '../../../../../lib/workspaces/tree/disk/fields.ts';
import { decodeRecord } from '../../../../../lib/workspaces/tree/journal/decode-record.ts';
import { encodeRecord } from '../../../../../lib/workspaces/tree/journal/encode-record.ts';
import { OPS } from '../../../../../lib/workspaces/tree/journal/ops.ts';
import type { JournalRecord } from '../../../../../lib/workspaces/tree/journal/records.ts';
import { type Random, seeded } from '../../../trees/random.ts';
import { anyRecord } from './any-record.ts';

function encoded(record: JournalRecord): Buffer {
  const fields = new FieldWriter(1);
  encodeRecord(fields, record);
  return fields.bytes.subarray(0, fields.at);
}

/** undefined for bytes that are refused. Any other error fails the test. */
function decoded(bytes: Buffer): JournalRecord | undefined {
  try {
    return decodeRecord(new FieldReader(bytes));
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}

function garbled(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = 1 + random(3); times > 0; times--) copy[random(copy.length)] = random(256);
  return random(3) ? copy : copy.subarray(0, random(copy.length));
}

describe('records of a journal', () => {
  const random = seeded(7);
  const records = Array.from({ length: 2000 }, () => anyRecord(random));

  it('are read as they were written, of each op', () => {
    for (const record of records) expect(decoded(encoded(record))).toEqual(record);
    expect(new Set(records.map(({ op }) => op))).toEqual(new Set(Object.keys(OPS)));
  });

  it('are refused if they are cut off or have bytes behind them', () => {
    for (const record of records.slice(0, 200)) {
      const bytes = encoded(record);
      for (let length = 0; length < bytes.length; length++) expect(decoded(bytes.subarray(0, length))).toBeUndefined();
      expect(decoded(Buffer.concat([bytes, Buffer.alloc(1)]))).toBeUndefined();
    }
  });

  it('are refused or read, and nothing else, of whatever bytes', () => {
    for (const record of records) {
      const read = decoded(garbled(encoded(record), random));
      if (read !== undefined) expect(decoded(encoded(read))).toEqual(read);
    }
    for (let times = 0; times < 5000; times++) {
      const bytes = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
      if (bytes.length > 0) bytes[0] = random(14);
      decoded(bytes);
    }
  });
});
