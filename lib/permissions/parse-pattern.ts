import type { ByteString } from '../fuse/filesystem.ts';

/** A JS string as the file system names it: its UTF-8 bytes, one char each. */
export function bytesOf(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}
