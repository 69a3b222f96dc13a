const BLOCK = 512;
/** What the fields of ustar can hold; more goes into a pax header. */
const MAX_NAME = 100;
const MAX_SIZE = 0o77777777777;

export interface Entry {
  /** Relative path, without a slash at its end. */
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  mode: number;
  /** Milliseconds since 1970. */
  mtimeMs: number;
  /** Bytes of the file. */
  size: number;
  /** Target of a symlink. */
  target?: string;
}

const TYPES = { file: '0', symlink: '2', directory: '5' };

/** The header blocks of an entry (POSIX.1-2001: ustar, with a pax header for what does not fit). Owners are not kept. */
export function headerOf(entry: Entry): Uint8Array {
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const seconds = Math.max(Math.floor(entry.mtimeMs / 1000), 0);
  const records = paxOf(entry, path);
  const size = entry.type === 'file' ? Math.min(entry.size, MAX_SIZE) : 0;
  const fields = { mode: entry.mode, size, seconds };
  const own = { name: shortened(path), type: TYPES[entry.type], target: shortened(entry.target ?? ''), ...fields };
  if (records === '') {
    const header = Buffer.alloc(BLOCK);
    writeBlock(header, own);
    return header;
  }
  const bytes = Buffer.byteLength(records);
  const before = BLOCK + bytes + unused(bytes);
  const header = Buffer.alloc(before + BLOCK);
  writeBlock(header, { name: 'pax', type: 'x', target: '', mode: 0o644, size: bytes, seconds });
  header.write(records, BLOCK);
  writeBlock(header.subarray(before), own);
  return header;
}

function paxOf(entry: Entry, path: string): string {
  let records = '';
  if (isLong(path)) records += record('path', path);
  if (entry.target !== undefined && isLong(entry.target)) records += record('linkpath', entry.target);
  if (entry.size > MAX_SIZE) records += record('size', String(entry.size));
  if (!Number.isInteger(entry.mtimeMs / 1000) || entry.mtimeMs < 0)
    records += record('mtime', (entry.mtimeMs / 1000).toFixed(6));
  return records;
}

/** Names that are not ASCII are UTF-8 in pax only. */
const isLong = (name: string): boolean => name.length > MAX_NAME || /[^\x20-\x7e]/.test(name);

const shortened = (name: string): string => name.replace(/[^\x20-\x7e]/g, '_').slice(0, MAX_NAME);

/** "LENGTH NAME=VALUE\n"; the length counts itself. */
function record(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length = bytes + String(length).length;
  return `${length}${rest}`;
}

interface Block {
  name: string;
  type: string;
  target: string;
  mode: number;
  size: number;
  seconds: number;
}

/** `header`: its first 512 bytes are zero. */
function writeBlock(header: Buffer, { name, type, target, mode, size, seconds }: Block): void {
  const write = (text: string, at: number) => header.write(text, at, 'latin1');
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  write(name, 0);
  write(octal(mode & 0o7777, 7), 100);
  write(octal(0, 7), 108);
  write(octal(0, 7), 116);
  write(octal(size, 11), 124);
  write(octal(Math.min(seconds, MAX_SIZE), 11), 136);
  write('        ', 148);
  write(type, 156);
  write(target, 157);
  write('ustar\u000000', 257);
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += header[at]!;
  write(`${octal(sum, 6)}\0 `, 148);
}

const unused = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

/** After the contents of a file. */
export const padding = (size: number): Uint8Array => new Uint8Array(unused(size));

/** The end of an archive. */
export const END = new Uint8Array(2 * BLOCK);
