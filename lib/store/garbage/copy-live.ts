import { DirectoryObject } from '../../trees/format/directory-object.ts';
import type { Key } from '../../trees/format/keys.ts';
import { keyOfBytes } from '../digest.ts';
import type { ObjectStore } from '../object-store.ts';
import type { Pack } from '../packs/pack.ts';
import { type Packed, RECORD, RECORD_HEADER } from '../packs/record.ts';
import { parseVersion } from '../versions/parse-version.ts';
import type { Writing } from '../writing.ts';

/** Records that are looked at in a step. */
const RECORDS = 512;

/**
 * Writes the live objects of condemned packs again, in the order in which they stood there. They are durable at the end. Answers
 * with their bytes.
 */
export function* copyLive(
  store: ObjectStore,
  packs: readonly string[],
  isLive: (key: Key) => boolean,
): Generator<void, number, void> {
  // To look for small contents in all packs takes longer than to write them.
  const writing = store.begin('no contents');
  let bytes = 0;
  try {
    for (const name of packs) {
      const pack = store.pack(name);
      for (const record of yield* liveIn(pack, isLive)) {
        const { key, length } = record;
        const payload = pack!.read(record).subarray(RECORD_HEADER);
        // If it is damaged here, it may be whole elsewhere; else this throws.
        copy(writing, record, keyOfBytes(payload) === key ? payload : store.bytes(key, 0));
        bytes += length;
        yield;
      }
    }
    writing.sync();
    return bytes;
  } finally {
    writing.end();
  }
}

function* liveIn(pack: Pack | undefined, isLive: (key: Key) => boolean): Generator<void, Packed[], void> {
  const live: Packed[] = [];
  let records = 0;
  for (const record of pack?.records() ?? []) {
    if (isLive(record.key)) live.push(record);
    if (++records % RECORDS === 0) yield;
  }
  return live.sort((a, b) => a.offset - b.offset);
}

function copy(writing: Writing, { kind }: Packed, payload: Buffer): void {
  if (kind === RECORD.directory) writing.put(new DirectoryObject(payload));
  else if (kind === RECORD.version) writing.putVersion(parseVersion(payload));
  else writing.putContents(payload);
}
