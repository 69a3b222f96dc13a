import { named, type Time } from '../../../trees/format/entry.ts';
import type { FieldWriter } from '../disk/fields.ts';
import { OPS } from './ops.ts';
import type { Attributes, JournalRecord, Link, Root } from './records.ts';

type Fields = {
  readonly [op in JournalRecord['op']]: (to: FieldWriter, record: Extract<JournalRecord, { op: op }>) => void;
};

const FIELDS: Fields = {
  own: (to, { at }) => link(to, at),
  thaw(to, { links }) {
    to.u16(links.length);
    for (const each of links) link(to, each);
  },
  put(to, { at: [directory, name], entry, time: at }) {
    time(to, at);
    to.u32(directory);
    to.entry(named(entry, name));
  },
  drop(to, { at, time: when }) {
    time(to, when);
    link(to, at);
  },
  move(to, { from, to: target, exchange, time: at }) {
    time(to, at);
    link(to, from);
    link(to, target);
    to.flag(exchange);
  },
  link(to, { file, at, time: when }) {
    time(to, when);
    to.u32(file);
    link(to, at);
  },
  attr(to, { of, attributes: set }) {
    to.u32(of);
    attributes(to, set);
  },
  data(to, { file, key, size, holes, time: at }) {
    time(to, at);
    to.u32(file);
    to.key(key);
    to.u48(size);
    to.u48(holes ?? 0);
  },
  text(to, { file, agentText }) {
    to.u32(file);
    to.flag(agentText);
  },
  base(to, record) {
    to.flag(record.takes);
    root(to, record);
  },
  root(to, record) {
    to.key(record.from);
    to.tree(record.mine);
    root(to, record);
  },
};

/** Appends u8 op, and the fields of the op. */
export function encodeRecord(to: FieldWriter, record: JournalRecord): void {
  to.u8(OPS[record.op]);
  (FIELDS[record.op] as (to: FieldWriter, record: JournalRecord) => void)(to, record);
}

function link(to: FieldWriter, [directory, name]: Link): void {
  to.u32(directory);
  to.name(name);
}

function time(to: FieldWriter, { s, ns }: Time): void {
  to.i48(s);
  to.u32(ns);
}

function attributes(to: FieldWriter, { mode, mtime, mtimeNs, ctime, ctimeNs, atime, owner }: Attributes): void {
  to.u16(mode);
  time(to, { s: mtime, ns: mtimeNs });
  time(to, { s: ctime, ns: ctimeNs });
  to.flag(atime !== undefined);
  if (atime !== undefined) time(to, atime);
  to.flag(owner !== undefined);
  if (owner === undefined) return;
  to.u32(owner.uid);
  to.u32(owner.gid);
}

function root(to: FieldWriter, { version, base }: Root): void {
  to.u48(version);
  to.tree(base);
}
