import { TYPE } from './entry.ts';
import { checkExtension, checkNoExtension, readExtension, TOTALS_AT, targetBytes } from './extension.ts';
import { FormatError, require } from './format-error.ts';
import { readU48 } from './integers.ts';
import { isKeyAt, KIND } from './keys.ts';
import { ENTRY_AT, ENTRY_FIXED, FLAG, FLAGS_AT } from './records.ts';
import { equalTotals, noTotals, readTotals } from './totals.ts';

const NANOSECONDS = 1_000_000_000;
const [NUL, DOT, SLASH] = [0, 0x2e, 0x2f];

/** Refuses an entry that the encoder would not make. Answers with its end. */
export function checkEntry(bytes: Buffer, start: number, limit: number): number {
  require(start + ENTRY_FIXED <= limit, 'it is longer than the records');
  const type = bytes.readUInt8(start);
  if (!(type >= TYPE.file && type <= TYPE.blockDevice)) throw new FormatError(`type ${type}`);
  const nameEnd = start + ENTRY_FIXED + bytes.readUInt8(start + ENTRY_AT.nameLength);
  require(nameEnd <= limit, 'its name is longer than the records');
  checkName(bytes, start + ENTRY_FIXED, nameEnd);
  require(bytes.readUInt16LE(start + ENTRY_AT.mode) <= 0o7777, 'mode bits above 07777');
  require(readU48(bytes, start + ENTRY_AT.ino) > 0, 'number 0');
  const nlink = bytes.readUInt16LE(start + ENTRY_AT.nlink);
  if (!(nlink > 0 && (nlink === 1 || type !== TYPE.directory))) throw new FormatError(`nlink ${nlink}`);
  require(bytes.readUInt32LE(start + ENTRY_AT.mtime + 6) < NANOSECONDS, 'a time with too many nanoseconds');
  require(bytes.readUInt32LE(start + ENTRY_AT.ctime + 6) < NANOSECONDS, 'a time with too many nanoseconds');
  checkContents(bytes, start, type);
  const flags = bytes.readUInt8(start + FLAGS_AT);
  if (!((flags & ~(FLAG.agentText | FLAG.extension)) === 0)) throw new FormatError(`flags ${flags}`);
  if ((flags & FLAG.extension) === 0) {
    checkNoExtension(type);
    return nameEnd;
  }
  const end = checkExtension(bytes, type, nameEnd, limit);
  checkSize(bytes, start, type, nameEnd);
  return end;
}

function checkName(bytes: Buffer, start: number, end: number): void {
  require(end > start, 'an empty name');
  for (let at = start; at < end; at++) require(bytes[at] !== NUL && bytes[at] !== SLASH, 'a name with NUL or slash');
  const dots = end - start <= 2 && bytes[start] === DOT && bytes[end - 1] === DOT;
  require(!dots, 'a name of dots');
}

/** The size of a symlink and of a directory is that of what follows the name; holes are a part of a data file. */
function checkSize(bytes: Buffer, start: number, type: number, nameEnd: number): void {
  const size = readU48(bytes, start + ENTRY_AT.size);
  if (type === TYPE.symlink) {
    if (!(size === targetBytes(bytes, nameEnd))) throw new FormatError(`a target of other than ${size} bytes`);
  }
  if (type === TYPE.file) checkHoles(bytes, start, size, nameEnd);
  if (type !== TYPE.directory) return;
  const { files, directories, ...rest } = readTotals(bytes, nameEnd + TOTALS_AT);
  if (!(size <= files + directories)) throw new FormatError(`a directory of ${size} entries with fewer in its totals`);
  if (size === 0) require(equalTotals({ files, directories, ...rest }, noTotals()), 'an empty directory with totals');
}

function checkHoles(bytes: Buffer, start: number, size: number, nameEnd: number): void {
  const { holes } = readExtension(bytes, nameEnd);
  if (holes === undefined) return;
  require(bytes.readUInt8(start + ENTRY_AT.key) === KIND.file, 'holes of what is no data file');
  if (!(holes > 0 && holes <= size)) throw new FormatError(`${holes} bytes of holes in ${size} bytes`);
}

function checkContents(bytes: Buffer, start: number, type: number): void {
  const at = start + ENTRY_AT.key;
  const kind = bytes.readUInt8(at);
  const size = readU48(bytes, start + ENTRY_AT.size);
  if (!isKeyAt(bytes, at)) throw new FormatError(`no key of kind ${kind}`);
  if (type === TYPE.file) {
    require(kind !== KIND.place, 'a file with the key of a directory');
    // The contents of a data file may be cut off to nothing; the other kinds name no empty contents.
    if (!(kind === KIND.file || (kind === KIND.none) === (size === 0)))
      throw new FormatError(`${size} bytes with a key of kind ${kind}`);
  } else if (type === TYPE.directory) {
    require(kind <= KIND.place, 'a directory with the key of contents');
    if (!((kind === KIND.none) === (size === 0))) throw new FormatError(`${size} entries with a key of kind ${kind}`);
  } else {
    if (!(kind === KIND.none)) throw new FormatError(`type ${type} with a key`);
    if (!(type === TYPE.symlink || size === 0)) throw new FormatError(`type ${type} with ${size} bytes`);
  }
}
