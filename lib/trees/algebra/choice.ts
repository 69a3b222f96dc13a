import type { ByteString } from '../../byte-string.ts';

/** Which paths a caller has chosen. */
export interface Choice {
  /** The path itself. */
  has(path: ByteString): boolean;
  /** Something below the path, perhaps: false if surely nothing is. */
  below(path: ByteString): boolean;
  /** The path and all below it. */
  all(path: ByteString): boolean;
}
