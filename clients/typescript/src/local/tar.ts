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

const encoder = new TextEncoder();
const TYPES = { file: '0', symlink: '2', directory: '5' };

/** The header blocks of an entry (POSIX.1-2001: ustar, with a pax header for what does not fit). Owners are not kept. */
export function headerOf(entry: Entry): Uint8Array {
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const seconds = Math.max(Math.floor(entry.mtimeMs / 1000), 0);
  const pax = paxOf(entry, path);
  const fields = { mode: entry.mode, size: entry.type === 'file' ? Math.min(entry.size, MAX_SIZE) : 0, seconds };
  const header = block(shortened(path), TYPES[entry.type], shortened(entry.target ?? ''), fields);
  if (pax.length === 0) return header;
  const head = block('pax', 'x', '', { mode: 0o644, size: pax.length, seconds });
  return joined([head, pax, padding(pax.length), header]);
}

function paxOf(entry: Entry, path: string): Uint8Array {
  const records: [name: string, value: string][] = [];
  if (isLong(path)) records.push(['path', path]);
  if (entry.target !== undefined && isLong(entry.target)) records.push(['linkpath', entry.target]);
  if (entry.size > MAX_SIZE) records.push(['size', String(entry.size)]);
  if (!Number.isInteger(entry.mtimeMs / 1000) || entry.mtimeMs < 0)
    records.push(['mtime', (entry.mtimeMs / 1000).toFixed(6)]);
  return encoder.encode(records.map(([name, value]) => record(name, value)).join(''));
}

/** Names that are not ASCII are UTF-8 in pax only. */
const isLong = (name: string): boolean => name.length > MAX_NAME || /[^\x20-\x7e]/.test(name);

const shortened = (name: string): string => name.replace(/[^\x20-\x7e]/g, '_').slice(0, MAX_NAME);

/** "LENGTH NAME=VALUE\n"; the length counts itself. */
function record(name: string, value: string): string {
  const rest = ` ${name}=${value}\n`;
  const bytes = encoder.encode(rest).length;
  let length = bytes + String(bytes).length;
  if (String(length).length > String(bytes).length) length = bytes + String(length).length;
  return `${length}${rest}`;
}

function block(
  name: string,
  type: string,
  target: string,
  { mode, size, seconds }: { mode: number; size: number; seconds: number },
): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const write = (text: string, at: number) => header.set(encoder.encode(text), at);
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
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

/** After the contents of a file. */
export const padding = (size: number): Uint8Array => new Uint8Array((BLOCK - (size % BLOCK)) % BLOCK);

/** The end of an archive. */
export const END = new Uint8Array(2 * BLOCK);

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
