import { type ByteString, fromLatin1 } from '../../../lib/byte-string.ts';
import { EMPTY_DIRECTORY, type Entry, TYPE } from '../../../lib/trees/format/entry.ts';
import { fileKey, NO_KEY, placeKey, slotKey } from '../../../lib/trees/format/keys.ts';
import { keyOfBytes } from './memory.ts';

/** Below `n`. */
export type Random = (n: number) => number;

/** The same numbers for the same seed: xorshift32. */
export function seeded(seed: number): Random {
  let x = (Math.imul(seed, 2654435761) >>> 0) + 1;
  const next = (n: number) => {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    return x % n;
  };
  for (let round = 0; round < 5; round++) next(2);
  return next;
}

const NO_TIMES = { mtime: 0, mtimeNs: 0, ctime: 0, ctimeNs: 0 };
const NO_EXTRAS = {
  totals: undefined,
  target: undefined,
  rdev: undefined,
  atime: undefined,
  owner: undefined,
  holes: undefined,
};

export function fileEntry(name: string, contents: string, attributes: Partial<Entry> = {}): Entry {
  return {
    name: fromLatin1(name),
    type: TYPE.file,
    mode: 0o644,
    nlink: 1,
    ino: 1,
    size: contents.length,
    ...NO_TIMES,
    key: contents === '' ? NO_KEY : keyOfBytes(contents),
    agentText: false,
    ...NO_EXTRAS,
    ...attributes,
  };
}

/** Of an empty one. */
export function directoryEntry(name: string, attributes: Partial<Entry> = {}): Entry {
  return { ...fileEntry(name, ''), ...EMPTY_DIRECTORY, mode: 0o755, ...attributes };
}

/** An entry of any type, with all that it may have. */
export function anyEntry(random: Random, name: ByteString): Entry {
  const time = () => ({ s: random(2) ? random(2 ** 31) : -random(2 ** 31), ns: random(1e9) });
  const [m, c] = [time(), time()];
  const entry = {
    ...fileEntry('', ''),
    name,
    mode: random(0o10000),
    ino: 1 + random(2 ** 31) * 2 ** 16,
    ...{ mtime: m.s, mtimeNs: m.ns, ctime: c.s, ctimeNs: c.ns },
    ...(random(3) ? {} : { atime: time() }),
    ...(random(3) ? {} : { owner: { uid: random(2 ** 32), gid: random(2 ** 32) } }),
  };
  const type = 1 + random(7);
  if (type === TYPE.directory) return anyDirectory(random, entry);
  if (type === TYPE.symlink) {
    const target = fromLatin1(`../${'t'.repeat(random(300))}`);
    return { ...entry, type, target, size: target.length };
  }
  if (type >= TYPE.characterDevice) return { ...entry, type, rdev: random(2 ** 32) };
  if (type > TYPE.file) return { ...entry, type };
  return { ...entry, ...anyContents(random), nlink: 1 + random(3), agentText: random(2) === 1 };
}

function anyContents(random: Random): Pick<Entry, 'key' | 'size' | 'holes'> {
  const size = 1 + random(2 ** 31) * 2 ** 10;
  const [store, birth, crc] = [BigInt(random(2 ** 32)) << 31n, random(2 ** 32), random(2 ** 32)];
  const kind = random(4);
  const holes = undefined;
  if (kind === 0) return { key: NO_KEY, size: 0, holes };
  if (kind === 1) return { key: keyOfBytes(String(random(2 ** 32))), size, holes };
  if (kind === 2)
    return { key: slotKey({ store, class: random(3), slot: random(2 ** 32), sequence: 5, birth, crc }), size, holes };
  const key = fileKey({ store, number: random(2 ** 32), birth, version: random(2 ** 32) });
  return random(2) ? { key, size, holes: random(2) ? 1 + random(size) : holes } : { key, size: 0, holes };
}

function anyDirectory(random: Random, entry: Entry): Entry {
  if (random(3) === 0) return { ...entry, ...EMPTY_DIRECTORY };
  const place = {
    store: 1n,
    segment: random(9),
    offset: random(2 ** 26),
    length: 60 + random(2 ** 20),
    crc: random(2 ** 32),
  };
  const own = { ownEntries: random(5), ownBytes: random(2 ** 31) * 2 ** 10 };
  const totals = {
    files: 20,
    bytes: random(2 ** 31) * 2 ** 10,
    linked: random(20),
    directories: random(9),
    ...own,
    longest: 9,
  };
  return {
    ...entry,
    type: TYPE.directory,
    size: 1 + random(20),
    key: random(2) ? keyOfBytes('d') : placeKey(place),
    totals,
  };
}

/** Different names, ascending. */
export function anyNames(random: Random, count: number): ByteString[] {
  const names = new Set<string>();
  while (names.size < count) {
    const length = random(9) === 0 ? 1 + random(255) : 1 + random(6);
    let name = '';
    while (name.length < length) name += String.fromCharCode(random(5) ? 0x61 + random(6) : 0x80 + random(0x80));
    names.add(name);
  }
  return [...names].sort(order).map(fromLatin1);
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1;
}
