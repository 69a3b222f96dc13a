import { type ByteString, fromLatin1, fromText, NO_BYTES, withSlash } from '../byte-string.ts';

/** One member of an archive. `content` must yield exactly `size` bytes. */
export interface Member {
  path: ByteString;
  type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  mode: number;
  /** Unix time in seconds. */
  mtime: number;
  size: number;
  target?: ByteString;
  content(): AsyncIterable<Uint8Array>;
}

const BLOCK = 512;
const PAX = fromText('pax');
const TYPES = { file: '0', symlink: '2', directory: '5' } as const;
/** Maximum of the 11 octal digits of a size. */
const MAX_SIZE = 0o77777777777;

/** Encodes a POSIX (pax) archive; ends when `members` ends. */
export async function* tar(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  for await (const member of members) {
    yield head(member);
    if (member.type !== 'file') continue;
    yield* member.content();
    const rest = member.size % BLOCK;
    if (rest > 0) yield Buffer.alloc(BLOCK - rest);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function head(member: Member): Buffer {
  const path = member.type === 'directory' ? withSlash(member.path) : member.path;
  const target = member.target ?? NO_BYTES;
  const size = member.type === 'file' ? member.size : 0;
  const records = [
    path.length > 100 ? record('path', path) : '',
    target.length > 100 ? record('linkpath', target) : '',
    size > MAX_SIZE ? record('size', fromLatin1(String(size))) : '',
  ].join('');
  const own = header(path, TYPES[member.type], member.mode, size, Math.max(0, member.mtime), target);
  if (records === '') return own;
  const body = Buffer.alloc(Math.ceil(records.length / BLOCK) * BLOCK);
  body.write(records, 'latin1');
  return Buffer.concat([header(PAX, 'x', 0o644, records.length, 0, NO_BYTES), body, own]);
}

/** `<length> <key>=<value>` and a newline; the length includes its own digits. */
function record(key: string, value: ByteString): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return `${length}${rest}`;
}

function header(path: ByteString, type: string, mode: number, size: number, mtime: number, target: ByteString): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(path.slice(0, 100), 0, 'latin1');
  block.write(octal(mode & 0o777, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size > MAX_SIZE ? 0 : size, 11), 124);
  block.write(octal(mtime, 11), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write(target.slice(0, 100), 157, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return Math.floor(value).toString(8).padStart(digits, '0');
}
