declare const brand: unique symbol;

/**
 * A name, path or link target as raw bytes, one char per byte (latin1), so that names that are not UTF-8 survive a round
 * trip. Paths are relative and have no leading, trailing or double slash; '' is the root. Made only by the functions
 * below, so that text cannot be taken for bytes by mistake. They are small enough to be inlined, and those that
 * only change the type cost nothing.
 */
export type ByteString = string & { readonly [brand]: true };

export const NO_BYTES = '' as ByteString;
export const ROOT_PATH = '' as ByteString;
export const DOT = '.' as ByteString;
export const DOT_DOT = '..' as ByteString;

/** The UTF-8 bytes of a text. */
export function fromText(text: string): ByteString {
  return Buffer.from(text, 'utf8').toString('latin1') as ByteString;
}

/** Decodes for people and for JSON. Lossy: bytes that are not UTF-8 become U+FFFD. */
export function toText(bytes: ByteString): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The bytes of a buffer from `start` to before `end`; by default all. */
export function fromBuffer(buffer: Buffer, start?: number, end?: number): ByteString {
  return buffer.toString('latin1', start, end) as ByteString;
}

export function toBuffer(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1');
}

/** Takes a string that has one char per byte already: it was decoded as latin1, or is ASCII. Not checked. */
export function fromLatin1(chars: string): ByteString {
  return chars as ByteString;
}

/** As String.prototype.slice; the positions count bytes. */
export function sliceOf(bytes: ByteString, start: number, end?: number): ByteString {
  return bytes.slice(start, end) as ByteString;
}

/** The path of a name in a directory. Also joins two paths, unless the second is the root. */
export function joinPath(directory: ByteString, name: ByteString): ByteString {
  return (directory === '' ? name : `${directory}/${name}`) as ByteString;
}

export function joinNames(names: readonly ByteString[]): ByteString {
  return names.join('/') as ByteString;
}

/** The names in a path, outermost first; none for the root. */
export function splitPath(path: ByteString): ByteString[] {
  return path === '' ? [] : (path.split('/') as ByteString[]);
}

/** The root for a path in the root, and for the root itself. */
export function parentOf(path: ByteString): ByteString {
  return path.slice(0, Math.max(0, path.lastIndexOf('/'))) as ByteString;
}

/** The last name in a path. */
export function baseNameOf(path: ByteString): ByteString {
  return path.slice(path.lastIndexOf('/') + 1) as ByteString;
}

/** The directories above a path, outermost first, without the root. */
export function* ancestorsOf(path: ByteString): Generator<ByteString, void, void> {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash) as ByteString;
}

/** The path with a trailing slash: the key that sorts what is below a directory. */
export function withSlash(path: ByteString): ByteString {
  return `${path}/` as ByteString;
}

/** For a message: as text in quotes, shortened as `quoteText` does. */
export function quote(bytes: ByteString): string {
  return quoteText(toText(bytes));
}

const MAX_QUOTED = 200;

/** A name or path that is text already, in quotes for a message. Shortened to 200 characters, to fit a protocol's header. */
export function quoteText(text: string): string {
  const characters = Array.from(text);
  return JSON.stringify(characters.length > MAX_QUOTED ? `${characters.slice(0, MAX_QUOTED).join('')}…` : text);
}
