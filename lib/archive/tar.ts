import { setImmediate } from 'node:timers/promises';
import { type ByteString, fromLatin1, fromText, NO_BYTES, withSlash } from '../byte-string.ts';
import type { Time } from '../linux/time.ts';

/** One member of an archive, without its content. */
export interface MemberHead {
  path: ByteString;
  type: 'file' | 'directory' | 'symlink' | 'link';
  /** Permission bits. */
  mode: number;
  mtime: Time;
  /** Bytes of a file's content. */
  size: number;
  /** Of a symlink, or the path of the earlier member that a hard link is another name of. */
  target?: ByteString;
}

/** One member of an archive. `content` must yield exactly `size` bytes. */
export interface Member extends Omit<MemberHead, 'mtime' | 'type'> {
  type: 'file' | 'directory' | 'symlink';
  /** Unix time in seconds. */
  mtime: number;
  content(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const BLOCK = 512;
/** Bytes of a piece: a fraction of a millisecond of the main thread. */
const PIECE = 64 * 1024;
const PAX = fromText('pax');
const TYPES = { file: '0', link: '1', symlink: '2', directory: '5' } as const;
/** Maximum of the 11 octal digits of a size or time. */
const MAX_NUMBER = 0o77777777777;
/** The largest time of a record that readers accept (pax-records.ts). */
const MAX_SECONDS = 999_999_999_999;

/**
 * Encodes a POSIX (pax) archive, in pieces of some members; ends when `members` ends. Other events are handled between
 * the pieces: a reader may always be ready for the next one.
 */
export async function* tar(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let length = 0;
  for await (const part of parts(members)) {
    held.push(part);
    length += part.length;
    if (length < PIECE) continue;
    yield joined(held);
    await setImmediate();
    held = [];
    length = 0;
  }
  yield joined(held);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

async function* parts(members: AsyncIterable<Member>): AsyncGenerator<Uint8Array> {
  for await (const member of members) {
    yield memberHead({ ...member, mtime: { sec: Math.floor(member.mtime), nsec: 0 } });
    if (member.type !== 'file') continue;
    yield* member.content();
    const padding = memberPadding(member.size);
    if (padding.length > 0) yield padding;
  }
  yield tarEnd();
}

/** What follows the content of a file. */
export function memberPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** What follows the last member. */
export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

/** What precedes the content of a file, and all of other members. */
export function memberHead(member: MemberHead): Buffer {
  const path = member.type === 'directory' ? withSlash(member.path) : member.path;
  const target = member.target ?? NO_BYTES;
  const size = member.type === 'file' ? member.size : 0;
  const { sec, nsec } = member.mtime;
  const headerSeconds = Math.min(Math.max(0, sec), MAX_NUMBER);
  const records = [
    path.length > 100 ? record('path', path) : '',
    target.length > 100 ? record('linkpath', target) : '',
    size > MAX_NUMBER ? record('size', fromLatin1(String(size))) : '',
    nsec > 0 || sec !== headerSeconds ? record('mtime', timeText(member.mtime)) : '',
  ].join('');
  const own = header(path, TYPES[member.type], member.mode, size, headerSeconds, target);
  if (records === '') return own;
  const body = Buffer.alloc(Math.ceil(records.length / BLOCK) * BLOCK);
  body.write(records, 'latin1');
  return Buffer.concat([header(PAX, 'x', 0o644, records.length, 0, NO_BYTES), body, own]);
}

/** Seconds with a fraction; before 1970 both are subtracted. */
function timeText({ sec, nsec }: Time): ByteString {
  const bounded = Math.min(Math.max(-MAX_SECONDS, sec), MAX_SECONDS);
  const isBorrowed = sec < 0 && nsec > 0;
  const whole = Math.abs(isBorrowed ? bounded + 1 : bounded);
  const fraction = isBorrowed ? 1_000_000_000 - nsec : nsec;
  const text = fraction === 0 ? String(whole) : `${whole}.${String(fraction).padStart(9, '0')}`;
  return fromLatin1(sec < 0 ? `-${text}` : text);
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
  block.write(octal(size > MAX_NUMBER ? 0 : size, 11), 124);
  block.write(octal(mtime, 11), 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write(target.slice(0, 100), 157, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += block[at]!;
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

function octal(value: number, digits: number): string {
  return Math.floor(value).toString(8).padStart(digits, '0');
}
