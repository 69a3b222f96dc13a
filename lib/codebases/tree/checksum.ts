import { sha256 } from '../../store/digest.ts';
import { digestOf, type Key } from '../../trees/format/keys.ts';

const OF_NOTHING = sha256(Buffer.alloc(0)).toString('hex');

/** Lower-case hex SHA-256 of contents. */
export function checksumOf(key: Key): string {
  return digestOf(key)?.toString('hex') ?? OF_NOTHING;
}
