import { type ByteString, DOT_DOT, joinNames, quote, splitPath } from '../byte-string.ts';
import { MAX_LINK_TARGET_BYTES, MAX_NAME_BYTES, MAX_PATH_BYTES } from '../path-limits.ts';
import { invalidArchive } from './invalid-archive.ts';
import type { Entry } from './tar-header.ts';

/**
 * Normalizes the path of a member (`./a/`); '' is the directory that the archive is unpacked into. Throws
 * INVALID_ARGUMENT for every path that is not in it.
 */
export function memberPath(path: ByteString): ByteString {
  const at = isPlain(path) ? path : joinNames(splitPath(path).filter((name) => name !== '' && name !== '.'));
  if (path.startsWith('/')) throw invalidArchive(`${quote(path)} is an absolute path`);
  if (path.includes('..') && splitPath(at).includes(DOT_DOT)) throw invalidArchive(`${quote(path)} contains ".."`);
  if (path.includes('\0')) throw invalidArchive(`${quote(path)} contains a NUL`);
  if (at.length > MAX_PATH_BYTES) throw invalidArchive(`${quote(path)} has more than ${MAX_PATH_BYTES} bytes`);
  if (at.length > MAX_NAME_BYTES && splitPath(at).some((name) => name.length > MAX_NAME_BYTES)) {
    throw invalidArchive(`${quote(path)} has more than ${MAX_NAME_BYTES} bytes in one name`);
  }
  return at;
}

/** Whether the path has neither empty components nor "." and so is normalized already. */
function isPlain(path: ByteString): boolean {
  return !path.startsWith('./') && !path.endsWith('/') && !path.includes('//') && !path.includes('/.') && path !== '.';
}

/** Throws INVALID_ARGUMENT for a symlink whose target no file system can store. */
export function checkTarget(path: ByteString, target: ByteString): void {
  if (target !== '' && target.length <= MAX_LINK_TARGET_BYTES && !target.includes('\0')) return;
  throw invalidArchive(
    `${quote(path)} is a symbolic link whose target is empty, has a NUL, or has more than ${MAX_LINK_TARGET_BYTES} bytes`,
  );
}

/** For a member at the path of a directory, or below one of another type. */
export function twoTypes(path: ByteString): Error {
  return invalidArchive(`${quote(path)} is a directory and another type`);
}

/** For a member whose parent is a member of another type. */
export function belowOther(path: ByteString, above: ByteString): Error {
  return invalidArchive(`${quote(path)} is below ${quote(above)}, which is not a directory`);
}

/** For a hard link without an earlier file of the archive as its target. */
export function badLink(path: ByteString): Error {
  return invalidArchive(`${quote(path)} is a hard link to a path that is not an earlier file of the archive`);
}

/** For one hard link more than the file system of the host permits. */
export function tooManyLinks(path: ByteString): Error {
  return invalidArchive(`${quote(path)} is a hard link to a file that has as many as the file system permits`);
}

/** Throws INVALID_ARGUMENT if the member is unnamed and no directory. */
export function requireNamed({ type }: Entry): void {
  if (type !== 'directory') throw invalidArchive('a member has no name');
}
