import { hash } from 'node:crypto';
import { hashKey, type Key } from '../trees/format/keys.ts';

export function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}

export function keyOfBytes(bytes: Uint8Array): Key {
  return hashKey(sha256(bytes));
}
