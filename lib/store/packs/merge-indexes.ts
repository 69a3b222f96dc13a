import { randomBytes } from 'node:crypto';
import type { Disk } from '../../disk/disk.ts';
import { DIGEST_BYTES, FAN_OUT, ROW_BYTES } from './index-rows.ts';
import {
  MERGED_AT,
  MERGED_FAN_OUT_BYTES,
  MERGED_MAGIC,
  MERGED_ROW,
  MERGED_ROW_BYTES,
  mergedCrc,
  mergedPath,
  NAME_BYTES,
} from './merged-index.ts';
import type { PackPlace } from './open-pack.ts';
import { quietly } from './pack.ts';
import type { SealedPack } from './sealed-pack.ts';

/** Rows of a step: it takes a millisecond or two. */
const ROWS = 1024;

/**
 * Writes the merged index of these packs, in steps, beside the one that there may be. Answers with its name. Packs of which an index is
 * damaged are not in it: they have none that could be merged.
 */
export function* mergeIndexes(
  place: PackPlace,
  tmp: string,
  packs: readonly SealedPack[],
): Generator<void, string, void> {
  const { disk } = place;
  const whole: SealedPack[] = [];
  for (const pack of packs) {
    if (pack.verify()) whole.push(pack);
    yield;
  }
  const path = `${tmp}/merged.index`;
  quietly(() => disk.unlink(path));
  const fd = disk.open(path, 'create');
  try {
    yield* writeMerged(disk, fd, whole);
    yield;
    // Zeros in it would only make look-ups slow; a later start reads the packs anyway.
    disk.datasync(fd);
  } catch (error) {
    quietly(() => disk.unlink(path));
    throw error;
  } finally {
    disk.close(fd);
  }
  const name = `${randomBytes(16).toString('hex')}.index`;
  disk.rename(path, mergedPath(place, name));
  return name;
}

function* writeMerged(disk: Disk, fd: number, packs: readonly SealedPack[]): Generator<void, void, void> {
  const fanOutAt = MERGED_AT.names + packs.length * NAME_BYTES;
  const head = Buffer.alloc(fanOutAt + MERGED_FAN_OUT_BYTES);
  let rows = 0;
  for (let byte = 0; byte < FAN_OUT; byte++) {
    const { sorted, counts } = yield* mergedPart(packs.map((pack) => pack.rows(byte)));
    if (sorted.length > 0) disk.pwrite(fd, sorted, head.length + rows * MERGED_ROW_BYTES);
    for (let second = 0; second < FAN_OUT; second++) {
      rows += counts[second]!;
      head.writeUInt32LE(rows, fanOutAt + ((byte << 8) | second) * 4);
    }
    yield;
  }
  MERGED_MAGIC.copy(head);
  head.writeUInt32LE(packs.length, MERGED_AT.packs);
  head.writeUInt32LE(rows, MERGED_AT.rows);
  packs.forEach((pack, index) => {
    Buffer.from(pack.name, 'hex').copy(head, MERGED_AT.names + index * NAME_BYTES);
  });
  head.writeUInt32LE(mergedCrc(head), MERGED_AT.crc);
  disk.pwrite(fd, head, 0);
}

/** Rows whose digests begin with one byte, of each pack ascending: in one order, and their number by the second byte. */
function* mergedPart(parts: readonly Buffer[]): Generator<void, { sorted: Buffer; counts: Uint32Array }, void> {
  const counts = new Uint32Array(FAN_OUT);
  const bySecond: { part: Buffer; pack: number; at: number }[][] = Array.from({ length: FAN_OUT }, () => []);
  parts.forEach((part, pack) => {
    for (let at = 0; at < part.length; at += ROW_BYTES) bySecond[part[at + 1]!]!.push({ part, pack, at });
  });
  yield;
  const sorted = Buffer.alloc(parts.reduce((sum, part) => sum + part.length / ROW_BYTES, 0) * MERGED_ROW_BYTES);
  let [to, step] = [0, 0];
  for (const [second, rows] of bySecond.entries()) {
    counts[second] = rows.length;
    rows.sort((a, b) => a.part.compare(b.part, b.at, b.at + DIGEST_BYTES, a.at, a.at + DIGEST_BYTES));
    for (const { part, pack, at } of rows) {
      part.copy(sorted, to, at, at + DIGEST_BYTES);
      sorted.writeUInt32LE(pack, to + MERGED_ROW.pack);
      // Offset and length, as they are.
      part.copy(sorted, to + MERGED_ROW.offset, at + DIGEST_BYTES + 1, at + ROW_BYTES);
      to += MERGED_ROW_BYTES;
    }
    step += rows.length;
    if (step < ROWS) continue;
    step = 0;
    yield;
  }
  return { sorted, counts };
}
