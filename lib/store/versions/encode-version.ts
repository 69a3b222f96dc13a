import { fromLatin1, toBuffer } from '../../byte-string.ts';
import { type DirectoryEntry, named } from '../../trees/format/entry.ts';
import { writeI48, writeU48 } from '../../trees/format/integers.ts';
import { KEY_BYTES, writeKey } from '../../trees/format/keys.ts';
import { ENTRIES } from '../../trees/format/records.ts';
import { type CommitOrigin, VERSION_KINDS, type Version } from './version.ts';

/**
 * `0 PVER`, `4 u8 format`, `5 u8 kind`, `6 u8 flags`, `7 u8 paths`, `8 u48 number`, `14 i48 ms`, `20 u48 next inode number`, `26 key of
 * the parent`. Then, each with a u32 length before it: the entry of the root, author, message, the paths, and by the flags the
 * id of the sandbox, that of the commit, its trees before and after, its base after; intent and answer. Texts are UTF-8.
 */
export const VERSION_MAGIC = 'PVER';
export const VERSION_FORMAT = 1;
export const VERSION_AT = {
  format: 4,
  kind: 5,
  flags: 6,
  paths: 7,
  number: 8,
  createdAt: 14,
  nextIno: 20,
  parent: 26,
  fields: 26 + KEY_BYTES,
} as const;
export const VERSION_FLAG = { commit: 1, request: 2 } as const;
export const FIELD_LENGTH = 4;
/** Entries have names; that of a root says nothing. */
export const ROOT_NAME = fromLatin1('root');

export function encodeVersion(version: Version): Buffer {
  const { commit, request } = version;
  const fields = [
    rootBytes(version.root),
    Buffer.from(version.author),
    Buffer.from(version.message),
    ...version.paths.map(toBuffer),
    ...(commit ? commitFields(commit) : []),
    ...(request ? [request.intent, request.answer] : []),
  ];
  const head = Buffer.alloc(VERSION_AT.fields);
  head.write(VERSION_MAGIC, 'latin1');
  head.writeUInt8(VERSION_FORMAT, VERSION_AT.format);
  head.writeUInt8(VERSION_KINDS.indexOf(version.kind), VERSION_AT.kind);
  head.writeUInt8((commit ? VERSION_FLAG.commit : 0) | (request ? VERSION_FLAG.request : 0), VERSION_AT.flags);
  head.writeUInt8(version.paths.length, VERSION_AT.paths);
  writeU48(head, version.number, VERSION_AT.number);
  writeI48(head, version.createdAt, VERSION_AT.createdAt);
  writeU48(head, version.nextIno, VERSION_AT.nextIno);
  writeKey(head, version.parent, VERSION_AT.parent);
  return Buffer.concat([head, ...fields.flatMap((field) => [lengthOf(field), field])]);
}

/** The entry of a root, which `parseRoot` reads. */
export function rootBytes(root: DirectoryEntry): Buffer {
  const entry = named(root, ROOT_NAME);
  const bytes = Buffer.alloc(ENTRIES.size(entry));
  ENTRIES.write(bytes, entry, 0);
  return bytes;
}

function commitFields({ sandboxId, id, mineBefore, mineAfter, baseAfter }: CommitOrigin): Buffer[] {
  return [Buffer.from(sandboxId), id, ...[mineBefore, mineAfter, baseAfter].map(rootBytes)];
}

function lengthOf(field: Buffer): Buffer {
  const bytes = Buffer.alloc(FIELD_LENGTH);
  bytes.writeUInt32LE(field.length);
  return bytes;
}
