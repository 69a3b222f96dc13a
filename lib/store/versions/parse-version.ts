import { fromBuffer, ROOT_PATH } from '../../byte-string.ts';
import { checkEntry } from '../../trees/format/check-entry.ts';
import { type DirectoryEntry, isDirectory } from '../../trees/format/entry.ts';
import { FormatError, require } from '../../trees/format/format-error.ts';
import { readI48, readU48 } from '../../trees/format/integers.ts';
import { isKeyAt, isLocal, KEY_BYTES, type Key, readKey } from '../../trees/format/keys.ts';
import { ENTRIES } from '../../trees/format/records.ts';
import {
  encodeVersion,
  FIELD_LENGTH,
  ROOT_NAME,
  VERSION_AT,
  VERSION_FLAG,
  VERSION_FORMAT,
  VERSION_MAGIC,
} from './encode-version.ts';
import { type CommitOrigin, VERSION_KINDS, VERSION_LIMITS, type Version, type VersionRequest } from './version.ts';

const COMMIT_ID = 16;
/** Of the entry of a root: it has no target. */
const MAX_ENTRY = 1024;

/** The version of these bytes. Throws a FormatError unless they are exactly what the encoder makes of one. */
export function parseVersion(bytes: Buffer): Version {
  const header = parseHeader(bytes);
  const fields = new Fields(bytes);
  const root = parseRoot(fields.next('root', MAX_ENTRY));
  const author = fields.text('author', VERSION_LIMITS.author);
  const message = fields.text('message', VERSION_LIMITS.message);
  const paths = Array.from({ length: bytes.readUInt8(VERSION_AT.paths) }, () => {
    const path = fields.next('path', VERSION_LIMITS.path);
    return fromBuffer(path);
  });
  const flags = bytes.readUInt8(VERSION_AT.flags);
  const commit = (flags & VERSION_FLAG.commit) === 0 ? undefined : parseCommit(fields);
  const request = (flags & VERSION_FLAG.request) === 0 ? undefined : parseRequest(fields);
  fields.end();
  const version = { ...header, root, author, message, paths, commit, request };
  require(encodeVersion(version).equals(bytes), 'a version in another form than this one');
  return version;
}

function parseHeader(bytes: Buffer): Pick<Version, 'number' | 'kind' | 'createdAt' | 'parent' | 'nextIno'> {
  if (!(bytes.length >= VERSION_AT.fields)) throw new FormatError(`${bytes.length} bytes are less than a version`);
  require(bytes.toString('latin1', 0, VERSION_MAGIC.length) === VERSION_MAGIC, 'no version');
  const format = bytes.readUInt8(VERSION_AT.format);
  if (!(format === VERSION_FORMAT)) throw new FormatError(`a version of format ${format}: this is ${VERSION_FORMAT}`);
  const kind = VERSION_KINDS[bytes.readUInt8(VERSION_AT.kind)];
  if (kind === undefined) throw new FormatError(`a version of kind ${bytes.readUInt8(VERSION_AT.kind)}`);
  const flags = bytes.readUInt8(VERSION_AT.flags);
  if (!(flags <= (VERSION_FLAG.commit | VERSION_FLAG.request))) throw new FormatError(`a version with flags ${flags}`);
  const paths = bytes.readUInt8(VERSION_AT.paths);
  if (!(paths <= VERSION_LIMITS.paths)) throw new FormatError(`a version with ${paths} paths`);
  const number = readU48(bytes, VERSION_AT.number);
  require(number > 0, 'a version with number 0');
  const nextIno = readU48(bytes, VERSION_AT.nextIno);
  require(nextIno > 0, 'a version with the next inode number 0');
  const parent = parseKey(bytes.subarray(VERSION_AT.parent, VERSION_AT.fields), 'parent');
  require(!isLocal(parent), 'a parent that is not in the store of the codebase');
  return { number, kind, createdAt: readI48(bytes, VERSION_AT.createdAt), parent, nextIno };
}

/** Throws a FormatError for what is no entry of a root in the store of a codebase. */
export function parseRoot(bytes: Buffer): DirectoryEntry {
  const root = parseTree(bytes);
  require(!isLocal(root.key) && root.totals.ownEntries === 0, 'a root that is not in the store of the codebase');
  return root;
}

/** Also one in the store of a sandbox. */
function parseTree(bytes: Buffer): DirectoryEntry {
  require(checkEntry(bytes, 0, bytes.length) === bytes.length, 'bytes behind the entry of the root');
  const entry = ENTRIES.read(bytes, 0);
  if (!isDirectory(entry) || entry.name !== ROOT_NAME) throw new FormatError('a root that is none');
  return { ...entry, name: ROOT_PATH };
}

function parseCommit(fields: Fields): CommitOrigin {
  const sandboxId = fields.text('sandbox id', VERSION_LIMITS.sandboxId);
  const id = Buffer.from(fields.next('commit id', COMMIT_ID));
  require(id.length === COMMIT_ID, 'a commit id of a wrong length');
  const tree = () => parseTree(fields.next('tree', MAX_ENTRY));
  return { sandboxId, id, mineBefore: tree(), mineAfter: tree(), baseAfter: tree() };
}

function parseRequest(fields: Fields): VersionRequest {
  const intent = Buffer.from(fields.next('intent', VERSION_LIMITS.intent));
  return { intent, answer: Buffer.from(fields.next('answer', VERSION_LIMITS.answer)) };
}

function parseKey(bytes: Buffer, what: string): Key {
  if (!(bytes.length === KEY_BYTES && isKeyAt(bytes, 0))) throw new FormatError(`no key of a ${what}`);
  return readKey(bytes, 0);
}

/** Bytes with their length before them. */
class Fields {
  readonly #bytes: Buffer;
  #at: number = VERSION_AT.fields;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(what: string, limit: number): Buffer {
    const start = this.#at + FIELD_LENGTH;
    if (!(start <= this.#bytes.length)) throw new FormatError(`a version that ends before its ${what}`);
    const length = this.#bytes.readUInt32LE(this.#at);
    if (!(length <= limit)) throw new FormatError(`a version with ${length} bytes of ${what}: at most ${limit}`);
    if (!(start + length <= this.#bytes.length)) throw new FormatError(`a version that ends within its ${what}`);
    this.#at = start + length;
    return this.#bytes.subarray(start, this.#at);
  }

  /** Bytes that are not UTF-8 do not encode to themselves, and are refused at the end. */
  text(what: string, limit: number): string {
    return this.next(what, limit).toString();
  }

  end(): void {
    require(this.#at === this.#bytes.length, 'bytes behind the last field of a version');
  }
}
