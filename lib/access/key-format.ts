import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** `pdk_<id>_<secret>`: the id finds the record, and the secret is 32 random bytes in base64url. */
const KEY = /^pdk_([0-9a-z]{8})_([A-Za-z0-9_-]{43})$/;
export const KEY_SHAPE = 'pdk_<8 lower-case letters or digits>_<43 characters of base64url>';

/** A key or the beginning of one, anywhere in a text. The mask of a key is none. */
const KEYS = /pdk_([0-9a-z]{8})_[A-Za-z0-9_-]{4,}/g;

const ID_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const NO_HASH = Buffer.alloc(32);

export interface KeyParts {
  id: string;
  secret: string;
}

/** undefined: the text does not have the shape of a key. */
export function parseKey(text: string): KeyParts | undefined {
  const match = KEY.exec(text);
  return match ? { id: match[1]!, secret: match[2]! } : undefined;
}

/**
 * Replaces the secrets of keys in a text for the log or for an error. The threat: a key that a client sends in a wrong
 * place, for example as an id in a path, would be quoted there.
 */
export function hideKeys(text: string): string {
  return text.includes('pdk_') ? text.replace(KEYS, 'pdk_$1_…') : text;
}

/** Returns a new key with the parts that are stored of it. The text itself must not be stored. */
export function generateKey(): { id: string; text: string; sha256: string; mask: string } {
  const id = Array.from(randomBytes(8), (byte) => ID_DIGITS.charAt(byte % 32)).join('');
  const secret = randomBytes(32).toString('base64url');
  return { id, text: `pdk_${id}_${secret}`, ...storedParts({ id, secret }) };
}

/** A random secret of 256 bits needs no slow hash: it cannot be guessed from its SHA-256. */
export function storedParts({ id, secret }: KeyParts): { sha256: string; mask: string } {
  return { sha256: hashOf(secret).toString('hex'), mask: `pdk_${id}_…${secret.slice(-2)}` };
}

/**
 * Whether `secret` has the stored hash, in a time that depends neither on their common prefix nor on whether there is a
 * record.
 */
export function matches(secret: string, sha256: string | undefined): boolean {
  const stored = sha256 === undefined ? NO_HASH : Buffer.from(sha256, 'hex');
  const equal = stored.length === NO_HASH.length && timingSafeEqual(hashOf(secret), stored);
  return equal && sha256 !== undefined;
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
