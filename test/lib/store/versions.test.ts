import { describe, expect, it } from 'vitest';
import { fromLatin1, fromText } from '../../../lib/byte-string.ts';
import { encodeVersion, VERSION_AT } from '../../../lib/store/versions/encode-version.ts';
import { parseVersion } from '../../../lib/store/versions/parse-version.ts';
import { VERSION_KINDS, VERSION_LIMITS, type Version } from '../../../lib/store/versions/version.ts';
import { FormatError } from '../../../lib/trees/format/format-error.ts';
import { placeKey, slotKey } from '../../../lib/trees/format/keys.ts';
import { noTotals } from '../../../lib/trees/format/totals.ts';
import { keyOfBytes } from '../trees/memory.ts';
import { directoryEntry, seeded } from '../trees/random.ts';
import { version } from './stores.ts';

const ROOT = {
  ...directoryEntry(''),
  key: keyOfBytes('root'),
  size: 2,
  mode: 0o750,
  ino: 9,
  totals: { ...noTotals(), files: 2, bytes: 7, longest: 1 },
};
const SLOT = slotKey({ store: 1n, class: 1, slot: 1, sequence: 1, birth: 1, crc: 1 });
const PLACE = placeKey({ store: 9n, segment: 1, offset: 64, length: 200, crc: 5 });
const OWN = { ...ROOT, key: PLACE, totals: { ...ROOT.totals, ownEntries: 1, ownBytes: 200 } };
const COMMIT = {
  sandboxId: 'sandbox',
  id: Buffer.alloc(16, 7),
  mineBefore: OWN,
  mineAfter: ROOT,
  baseAfter: { ...OWN, mode: 0o700 },
};

const FULL = version(2 ** 40, {
  kind: 'commit',
  parent: keyOfBytes('before'),
  root: ROOT,
  nextIno: 2 ** 47,
  author: 'Ada <ada@example.org>',
  message: 'Größer 🚢',
  paths: [fromText('a/ü'), fromText('b')],
  commit: COMMIT,
  request: { intent: Buffer.from('intent'), answer: Buffer.from('{"version":"7"}') },
});

describe('a version', () => {
  it.each([
    ['the least', version(1)],
    ['all that it can have', FULL],
    ['before 1970', version(1, { createdAt: -5 })],
    ['an empty base', version(2, { commit: { ...COMMIT, baseAfter: { ...version(1).root, mode: 0o711 } } })],
    ['an empty request', version(2, { request: { intent: Buffer.alloc(0), answer: Buffer.alloc(0) } })],
    ['names that are not UTF-8', version(2, { paths: [fromLatin1('\xff')] })],
    ['64 paths', version(2, { paths: Array.from({ length: 64 }, (_, n) => fromText(String(n))) })],
  ])('is the same after it was written and read: %s', (_, each) => {
    expect(parseVersion(encodeVersion(each))).toEqual(each);
  });

  it.each(VERSION_KINDS)('is of kind %s', (kind) => {
    expect(parseVersion(encodeVersion(version(1, { kind }))).kind).toBe(kind);
  });

  it.each<[string, (bytes: Buffer) => Buffer | undefined, string]>([
    ['nothing', () => Buffer.alloc(0), '0 bytes are less than a version'],
    ['zeros', () => Buffer.alloc(500), 'no version'],
    ['another format', (bytes) => set(bytes, VERSION_AT.format, 9), 'a version of format 9: this is 1'],
    ['another kind', (bytes) => set(bytes, VERSION_AT.kind, 9), 'a version of kind 9'],
    ['other flags', (bytes) => set(bytes, VERSION_AT.flags, 4), 'a version with flags 4'],
    ['too many paths', (bytes) => set(bytes, VERSION_AT.paths, 65), 'a version with 65 paths'],
    ['more paths', (bytes) => set(bytes, VERSION_AT.paths, 64), 'a version that ends before its'],
    ['number 0', (bytes) => bytes.fill(0, VERSION_AT.number, VERSION_AT.createdAt), 'a version with number 0'],
    ['no next number', (bytes) => bytes.fill(0, VERSION_AT.nextIno, VERSION_AT.parent), 'the next inode number 0'],
    ['no key', (bytes) => set(bytes, VERSION_AT.parent, 9), 'no key of a parent'],
    ['a large field', (bytes) => set(bytes, VERSION_AT.fields + 3, 1), 'bytes of root: at most 1024'],
    ['bytes behind', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), 'bytes behind the last field of a version'],
  ])('is refused with the reason: %s', (_, change, why) => {
    const bytes = encodeVersion(FULL);
    expect(() => parseVersion(change(bytes) ?? bytes)).toThrow(why);
  });

  it.each<[string, Partial<Version>, string]>([
    ['a parent elsewhere', { parent: PLACE }, 'a parent that is not in the store of the codebase'],
    ['a root elsewhere', { root: { ...ROOT, key: PLACE } }, 'a root that is not in the store of the codebase'],
    [
      'own entries',
      { root: { ...ROOT, totals: { ...ROOT.totals, ownEntries: 1 } } },
      'a root that is not in the store',
    ],
    ['a long message', { message: 'x'.repeat(1025) }, 'a version with 1025 bytes of message: at most 1024'],
    ['a long path', { paths: [fromText('x'.repeat(VERSION_LIMITS.path + 1))] }, 'bytes of path: at most 4096'],
    ['a short commit id', { commit: { ...COMMIT, id: Buffer.alloc(15) } }, 'a commit id of a wrong length'],
    [
      'a base that is a file',
      { commit: { ...COMMIT, baseAfter: { ...ROOT, key: SLOT } } },
      'a directory with the key of contents',
    ],
  ])('is refused with the reason: %s', (_, wrong, why) => {
    expect(() => parseVersion(encodeVersion({ ...FULL, ...wrong }))).toThrow(why);
  });

  it('is refused wherever it is cut off', () => {
    const bytes = encodeVersion(FULL);
    for (let length = 0; length < bytes.length; length++) expect(parsed(bytes.subarray(0, length))).toBeUndefined();
  });

  it('is refused, or is another one that the encoder makes, whatever is flipped or overwritten', () => {
    const bytes = encodeVersion(FULL);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      expectWhole(flipped);
    }
    const random = seeded(5);
    for (let run = 0; run < 3000; run++) {
      const other = Buffer.from(bytes);
      for (let times = 1 + random(3); times > 0; times--) {
        const start = random(other.length);
        other.fill([0, 1, 0x7f, 0xff][random(4)]!, start, Math.min(other.length, start + 1 + random(6)));
      }
      expectWhole(other);
    }
  });
});

function set(bytes: Buffer, at: number, value: number): undefined {
  bytes[at] = value;
}

function expectWhole(bytes: Buffer): void {
  const found = parsed(bytes);
  if (found !== undefined && !encodeVersion(found).equals(bytes))
    throw new Error(`two forms: ${bytes.toString('hex')}`);
}

/** Nothing but a FormatError is thrown. */
function parsed(bytes: Buffer): Version | undefined {
  try {
    return parseVersion(bytes);
  } catch (error) {
    if (error instanceof FormatError) return undefined;
    throw error;
  }
}
