import type { StoredHead } from '../../metadata/metadata.ts';
import { rootBytes } from '../../store/versions/encode-version.ts';
import { parseRoot } from '../../store/versions/parse-version.ts';
import { FormatError, require } from '../../trees/format/format-error.ts';
import { digestOf, hashKey } from '../../trees/format/keys.ts';
import type { Head } from './head.ts';

const STORES = 2n ** 64n;
const DIGITS = /^[1-9][0-9]{0,19}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** A head as the record of a codebase has it: of JSON values, and one form for equal heads. */
export function storedHead({ store, number, version, root, nextIno }: Head): StoredHead {
  return {
    store: String(store),
    number,
    version: digestOf(version)!.toString('hex'),
    root: rootBytes(root).toString('base64'),
    next_ino: nextIno,
  };
}

/** Throws a FormatError for what `storedHead` makes of no head. */
export function headOf(stored: StoredHead): Head {
  const { store, number, version, root, next_ino: nextIno } = Object(stored) as Partial<Record<string, unknown>>;
  if (!(isText(store, DIGITS) && BigInt(store) < STORES))
    throw wrong('store', 'the digits of a number from 1 to 2^64 - 1');
  if (!isCount(number)) throw wrong('number', 'a whole number above 0');
  if (!isText(version, DIGEST)) throw wrong('version', '64 hexadecimal digits');
  if (!isCount(nextIno)) throw wrong('next_ino', 'a whole number above 0');
  if (typeof root !== 'string') throw wrong('root', 'an entry in base64');
  const bytes = Buffer.from(root, 'base64');
  require(bytes.length > 0 && bytes.toString('base64') === root, 'root must be an entry in base64');
  return {
    store: BigInt(store),
    number,
    version: hashKey(Buffer.from(version, 'hex')),
    root: rootOf(bytes),
    nextIno,
  };
}

/** Whether both are the same head. */
export function isSameHead(a: StoredHead, b: StoredHead): boolean {
  return (
    a.version === b.version &&
    a.next_ino === b.next_ino &&
    a.number === b.number &&
    a.root === b.root &&
    a.store === b.store
  );
}

function rootOf(bytes: Buffer): Head['root'] {
  try {
    return parseRoot(bytes);
  } catch (error) {
    // Of bytes that end too early.
    if (error instanceof RangeError) throw new FormatError('root must be a whole entry');
    throw error;
  }
}

function isText(value: unknown, form: RegExp): value is string {
  return typeof value === 'string' && form.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function wrong(field: string, allowed: string): FormatError {
  return new FormatError(`${field} must be ${allowed}`);
}
