import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A value that only a holder of the key can read or replace, with what it belongs to. */
export interface Sealed {
  /** Tells keys apart without revealing them. */
  key_id: string;
  /** Nonce, authentication tag and encrypted value, in Base64. */
  sealed: string;
}

/** The value was changed after it was encrypted, or belongs to something else. */
export class BrokenSealError extends Error {}

/** `subject`: what the value belongs to. It is not encrypted, and `unseal` must get the same. */
export function seal(key: KeyObject, value: string, subject: readonly unknown[]): Sealed {
  // Random: one key would have to encrypt 2^32 values before two nonces are likely to be equal.
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(textOf(subject));
  const encrypted = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return { key_id: keyId(key), sealed: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString('base64') };
}

/** Throws BrokenSealError. */
export function unseal(key: KeyObject, { sealed }: Pick<Sealed, 'sealed'>, subject: readonly unknown[]): string {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(textOf(subject));
    decipher.setAuthTag(tag);
    const encrypted = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  } catch {
    // Without the cause: no text of the library is worth the risk of showing bytes.
    throw new BrokenSealError('does not match its authentication tag');
  }
}

/** Bytes of the value, which its encryption does not hide. */
export function sealedBytes({ sealed }: Pick<Sealed, 'sealed'>): number {
  return Math.max(0, Buffer.byteLength(sealed, 'base64') - NONCE_BYTES - TAG_BYTES);
}

export function keyId(key: KeyObject): string {
  return createHmac('sha256', key).update('paddock key of secrets').digest('hex').slice(0, 16);
}

function textOf(subject: readonly unknown[]): Buffer {
  return Buffer.from(JSON.stringify(subject));
}
