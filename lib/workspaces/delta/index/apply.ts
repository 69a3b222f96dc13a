import type { Time } from '../../../linux/time.ts';
import { NO_SLOT } from '../contents/stored-file.ts';
import { Inode } from './inode.ts';
import type { InodeTable } from './inode-table.ts';
import { MERGES, type Op, type OpNamed } from './records.ts';

/**
 * Applies an operation of a journal to a table. This is the only place that decodes operations. Throws an Error for an
 * operation that no journal of this program contains.
 */
export function apply(table: InodeTable, op: Op): void {
  switch (op[0]) {
    case 'new':
      create(table, op);
      break;
    case 'link':
    case 'hide':
    case 'drop':
      setEntry(table, op);
      break;
    case 'attr':
      setAttr(table, op);
      break;
    case 'data':
      setData(table, op);
      break;
    case 'place':
      setPlace(table, op);
      break;
    case 'touch':
    case 'ctime':
      setTimes(table, op);
      break;
    case 'alias':
      setAlias(table, op);
      break;
    case 'seen':
    case 'unseen':
      setBaseVersion(table, op);
      break;
    case 'origin':
      setOrigin(table, op);
      break;
    case 'text':
      setAgentText(table, op);
      break;
    case 'untext':
      table.require(op[1]).isAgentText = false;
      break;
    case 'rebased':
      setRebased(table, op);
      break;
    default:
      throw new Error(`unknown record ${JSON.stringify(op)}`);
  }
}

function create(table: InodeTable, [, id, ino, mode, uid, gid, t, body]: OpNamed<'new'>): void {
  if (table.get(id) !== undefined) throw new Error(`inode ${id} made twice`);
  const [atime, mtime, ctime] = [time(t[0], t[1]), time(t[2], t[3]), time(t[4], t[5])];
  const inode = new Inode(table, id, ino, mode, uid, gid, atime, mtime, ctime);
  if (inode.isDirectory) {
    inode.origin = typeof body === 'string' ? body : undefined;
    inode.merges = body === null ? undefined : body === MERGES;
  } else if (typeof body === 'string') {
    inode.target = body;
    inode.size = body.length;
  } else if (typeof body === 'number') {
    inode.rdev = body;
  } else if (body !== null) {
    const [layer, data, slot, size, sec, nsec, sumOrHoles] = body;
    inode.data = { layer, id: data, slot };
    inode.size = size;
    if (sec !== 0 || nsec !== 0) inode.hostMtime = time(sec, nsec);
    // An empty file may have had no data file.
    inode.expected = slot === NO_SLOT ? size || undefined : sumOrHoles;
    if (slot === NO_SLOT) inode.holes = sumOrHoles ?? 0;
    table.nextId = Math.max(table.nextId, data + 1);
  }
  table.add(inode);
}

function setEntry(table: InodeTable, op: OpNamed<'link'> | OpNamed<'hide'> | OpNamed<'drop'>): void {
  const [, dirId, name] = op;
  const dir = requireDirectory(table, dirId);
  const inode = op[0] === 'link' ? table.require(op[3]) : undefined;
  table.removeEntry(dir, name);
  if (inode !== undefined) table.link(dir, name, inode);
  else if (op[0] === 'hide') table.whiteOut(dir, name);
}

function setAttr(
  table: InodeTable,
  [, id, mode, uid, gid, t, hostSec, hostNsec, hostSize = -1]: OpNamed<'attr'>,
): void {
  const inode = table.require(id);
  if (inode.mode !== mode) inode.writes++;
  inode.mode = mode;
  inode.uid = uid;
  inode.gid = gid;
  inode.atime = time(t[0], t[1]);
  inode.mtime = time(t[2], t[3]);
  inode.ctime = time(t[4], t[5]);
  const hasFile = hostSec !== 0 || hostNsec !== 0;
  inode.hostMtime = hasFile ? time(hostSec, hostNsec) : undefined;
  if (hasFile && inode.data?.slot === NO_SLOT) inode.expected = hostSize;
}

function setTimes(table: InodeTable, [name, id, sec, nsec]: OpNamed<'touch'> | OpNamed<'ctime'>): void {
  const inode = table.require(id);
  inode.ctime = time(sec, nsec);
  if (name === 'touch') inode.mtime = time(sec, nsec);
}

function setData(table: InodeTable, [, id, layer, data, slot, size, sec, nsec, sum]: OpNamed<'data'>): void {
  const inode = table.require(id);
  const isMoved = place(table, inode, layer, data, slot);
  if (slot !== NO_SLOT && !isMoved && size < inode.size) inode.shortened = true;
  inode.expected = slot === NO_SLOT ? undefined : sum;
  inode.size = size;
  inode.holes = 0;
  inode.mtime = inode.ctime = time(sec, nsec);
  inode.writes++;
}

function setPlace(table: InodeTable, [, id, layer, data, slot]: OpNamed<'place'>): void {
  place(table, table.require(id), layer, data, slot);
}

/** Returns whether the location is another. */
function place(table: InodeTable, inode: Inode, layer: string, id: number, slot: number): boolean {
  const known = inode.data;
  if (known?.slot === slot && known.id === id && known.layer === layer) return false;
  // Moving from slot to slot keeps the checksum.
  const isCopied = slot !== NO_SLOT && known !== undefined && known.slot !== NO_SLOT;
  const sum = isCopied ? inode.expected : undefined;
  inode.data = { layer, id, slot };
  inode.expected = sum;
  table.nextId = Math.max(table.nextId, id + 1);
  return true;
}

function setAlias(table: InodeTable, [, id, dev, ino, left]: OpNamed<'alias'>): void {
  const inode = table.require(id);
  inode.aliases = left;
  if (left > 0) table.aliases.set(dev, ino, id);
  else table.aliases.delete(dev, ino);
}

function setOrigin(table: InodeTable, [, id, origin]: OpNamed<'origin'>): void {
  const dir = requireDirectory(table, id);
  table.setOrigin(dir, typeof origin === 'string' ? origin : undefined);
  dir.merges = origin === MERGES;
}

function setBaseVersion({ baseVersions }: InodeTable, op: OpNamed<'seen'> | OpNamed<'unseen'>): void {
  if (op[0] === 'unseen') baseVersions.delete(op[1]);
  else {
    const [, path, ...identity] = op;
    baseVersions.add(path, identity);
  }
}

function setAgentText(table: InodeTable, [, id, ...keys]: OpNamed<'text'>): void {
  table.require(id).isAgentText = true;
  table.placeholderKeys = [...new Set([...table.placeholderKeys, ...keys])];
}

function setRebased(table: InodeTable, [, commit, stage]: OpNamed<'rebased'>): void {
  table.rebased = { commit, stage };
}

function requireDirectory(table: InodeTable, id: number): Inode {
  const inode = table.require(id);
  if (!inode.isDirectory) throw new Error(`inode ${id} is no directory`);
  return inode;
}

function time(sec: number, nsec: number): Time {
  return { sec, nsec };
}
