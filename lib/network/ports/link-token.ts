import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What the token of a link starts with. */
const PREFIX = 'pdl_';
/** 128 bits: unguessable. */
const BYTES = 16;

/** A new token, which only its holder knows, and the hash that is stored. */
export function newLinkToken(): { token: string; sha256: string } {
  const token = `${PREFIX}${randomBytes(BYTES).toString('base64url')}`;
  return { token, sha256: hashOf(token).toString('hex') };
}

/** Takes a time that tells nothing about the stored token. */
export function isLinkToken(token: string, sha256: string): boolean {
  return timingSafeEqual(hashOf(token), Buffer.from(sha256, 'hex'));
}

const ANYWHERE = /pdl_[A-Za-z0-9_-]{22}/;

/** Whether a text has what may be the token of a link. */
export function hasLinkToken(text: string): boolean {
  return ANYWHERE.test(text);
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
