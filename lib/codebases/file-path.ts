import type { ByteString } from '../byte-string.ts';
import { invalidArgument } from '../errors.ts';
import { MAX_NAME_BYTES, MAX_PATH_BYTES } from '../path-limits.ts';

/** A place in a codebase that is not its root. */
export interface FilePath {
  /** From the codebase root, without a leading slash. */
  text: string;
  /** Names of the directories on the way, outermost first. */
  parents: ByteString[];
  name: ByteString;
}

/**
 * A leading slash is dropped. Throws INVALID_ARGUMENT naming `field` for what is empty, over-long, or could be read as
 * another path than it is written (`..`, `.`, doubled slashes, NUL).
 */
export function parseFilePath(field: string, path: string): FilePath {
  const text = path.startsWith('/') ? path.slice(1) : path;
  const names = text.split('/');
  const wrong = whatIsWrong(text, names);
  if (wrong !== undefined) {
    throw invalidArgument(field, `${wrong}; it is a path from the codebase root like src/main.ts`);
  }
  const bytes = names.map(bytesOf);
  return { text, parents: bytes.slice(0, -1), name: bytes.at(-1) as ByteString };
}

/** The names on the way to a directory; '' and '/' are the root, and a slash may end the path. Throws as above. */
export function parseDirectoryPath(field: string, path: string): ByteString[] {
  if (path === '' || path === '/') return [];
  const { parents, name } = parseFilePath(field, path.endsWith('/') ? path.slice(0, -1) : path);
  return [...parents, name];
}

const MAX_SHOWN = 200;

/** A path in a message: quoted, and cut where it would make the message too long for a protocol's header. */
export function shown(path: string): string {
  const characters = Array.from(path);
  return JSON.stringify(characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN).join('')}…` : path);
}

/** A path or name for people and for JSON: what is not UTF-8 comes as U+FFFD. */
export function textOf(bytes: ByteString): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function bytesOf(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function whatIsWrong(text: string, names: readonly string[]): string | undefined {
  if (text === '') return 'is required';
  if (text.includes('\0')) return 'must have no NUL';
  if (/\p{Surrogate}/u.test(text)) return 'must be valid Unicode';
  if (Buffer.byteLength(text) > MAX_PATH_BYTES) return `must have at most ${MAX_PATH_BYTES} bytes`;
  if (names.includes('')) return 'must not end in a slash or have two in a row';
  if (names.includes('.') || names.includes('..')) return 'must not have "." or ".." as a component';
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    return `must have at most ${MAX_NAME_BYTES} bytes between slashes`;
  }
}
