import { type ByteString, fromText } from '../byte-string.ts';
import { invalidArgument } from '../errors.ts';
import { MAX_LINK_TARGET_BYTES, MAX_NAME_BYTES, MAX_PATH_BYTES } from '../path-limits.ts';

/** A path in a codebase other than its root. */
export interface FilePath {
  /** Relative to the codebase root, without a leading slash. */
  text: string;
  /** Names of the parent directories, outermost first. */
  parents: ByteString[];
  name: ByteString;
}

/**
 * Parses a path; a leading slash is dropped. Throws INVALID_ARGUMENT naming `field` for a path that is empty, too long
 * or ambiguous (`..`, `.`, doubled slashes, NUL).
 */
export function parseFilePath(field: string, path: string): FilePath {
  const text = path.startsWith('/') ? path.slice(1) : path;
  const names = text.split('/');
  const wrong = whatIsWrong(text, names);
  if (wrong !== undefined) {
    throw invalidArgument(field, `${wrong}; it is a path from the codebase root like src/main.ts`);
  }
  const bytes = names.map(fromText);
  return { text, parents: bytes.slice(0, -1), name: bytes.at(-1)! };
}

/**
 * Parses the path of a directory into names; '' and '/' are the root, and a trailing slash is allowed. Throws like
 * `parseFilePath`.
 */
export function parseDirectoryPath(field: string, path: string): ByteString[] {
  if (path === '' || path === '/') return [];
  const { parents, name } = parseFilePath(field, path.endsWith('/') ? path.slice(0, -1) : path);
  return [...parents, name];
}

/** The bytes of a symlink's target. Throws INVALID_ARGUMENT for one that no file system can store. */
export function parseLinkTarget(target: string): Buffer {
  const bytes = Buffer.from(target);
  if (bytes.length > 0 && bytes.length <= MAX_LINK_TARGET_BYTES && !target.includes('\0')) return bytes;
  throw invalidArgument('symlink_target', `must have 1 to ${MAX_LINK_TARGET_BYTES} bytes and no NUL`);
}

function whatIsWrong(text: string, names: readonly string[]): string | undefined {
  if (text === '') return 'is required';
  if (text.includes('\0')) return 'must have no NUL';
  if (!(text as string & { isWellFormed(): boolean }).isWellFormed()) return 'must be valid Unicode';
  if (isLonger(text, MAX_PATH_BYTES)) return `must have at most ${MAX_PATH_BYTES} bytes`;
  if (names.includes('')) return 'must not end in a slash or have two in a row';
  if (names.includes('.') || names.includes('..')) return 'must not have "." or ".." as a component';
  if (names.some((name) => isLonger(name, MAX_NAME_BYTES))) {
    return `must have at most ${MAX_NAME_BYTES} bytes between slashes`;
  }
}

/** Whether the text has more UTF-8 bytes; at most three for each UTF-16 code unit. */
function isLonger(text: string, bytes: number): boolean {
  return 3 * text.length > bytes && Buffer.byteLength(text) > bytes;
}

/** Permission bits; INVALID_ARGUMENT for other values. */
export function checkedMode(mode: number): number {
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o777) return mode;
  throw invalidArgument('mode', 'must be permission bits, from 0 to 0777 (octal)');
}
