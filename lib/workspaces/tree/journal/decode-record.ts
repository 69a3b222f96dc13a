import type { Time } from '../../../trees/format/entry.ts';
import { FormatError, require } from '../../../trees/format/format-error.ts';
import type { FieldReader } from '../disk/fields.ts';
import { OPS } from './ops.ts';
import type { Attributes, Contents, JournalRecord, Link, Root } from './records.ts';

type Fields = { readonly [op in JournalRecord['op']]: (from: FieldReader) => Extract<JournalRecord, { op: op }> };

const FIELDS: Fields = {
  own: (from) => ({ op: 'own', at: link(from) }),
  thaw: (from) => ({ op: 'thaw', links: links(from) }),
  put(from) {
    const at = time(from);
    const directory = from.u32();
    const entry = from.entry();
    return { op: 'put', at: [directory, entry.name], entry, time: at };
  },
  drop: (from) => ({ op: 'drop', time: time(from), at: link(from) }),
  move: (from) => ({ op: 'move', time: time(from), from: link(from), to: link(from), exchange: from.flag() }),
  link: (from) => ({ op: 'link', time: time(from), file: from.u32(), at: link(from) }),
  attr: (from) => ({ op: 'attr', of: from.u32(), attributes: attributes(from) }),
  data: (from) => ({ op: 'data', time: time(from), file: from.u32(), ...contents(from) }),
  text: (from) => ({ op: 'text', file: from.u32(), agentText: from.flag() }),
  base: (from) => ({ op: 'base', takes: from.flag(), ...root(from) }),
  root: (from) => ({ op: 'root', from: from.key(), mine: from.tree(), ...root(from) }),
};

const BY_NUMBER = new Map<number, (from: FieldReader) => JournalRecord>(
  Object.entries(OPS).map(([op, number]) => [number, FIELDS[op as JournalRecord['op']]]),
);

/** Of what `encodeRecord` wrote. Throws a FormatError for all else. */
export function decodeRecord(from: FieldReader): JournalRecord {
  const op = from.u8();
  const fields = BY_NUMBER.get(op);
  if (fields === undefined) throw new FormatError(`a record with op ${op}`);
  const record = fields(from);
  from.end();
  return record;
}

function links(from: FieldReader): Link[] {
  const count = from.u16();
  require(count > 0, 'a file without a name');
  return Array.from({ length: count }, () => link(from));
}

function link(from: FieldReader): Link {
  return [from.u32(), from.name()];
}

function time(from: FieldReader): Time {
  return { s: from.i48(), ns: from.u32() };
}

function attributes(from: FieldReader): Attributes {
  const mode = from.u16();
  const [m, c] = [time(from), time(from)];
  const times = { mtime: m.s, mtimeNs: m.ns, ctime: c.s, ctimeNs: c.ns };
  const atime = from.flag() ? time(from) : undefined;
  const owner = from.flag() ? { uid: from.u32(), gid: from.u32() } : undefined;
  return { mode, ...times, atime, owner };
}

function contents(from: FieldReader): Contents {
  return { key: from.key(), size: from.u48(), holes: from.u48() || undefined };
}

function root(from: FieldReader): Root {
  return { version: from.u48(), base: from.tree() };
}
