import { WHITEOUT } from './inode.ts';
import type { InodeTable } from './inode-table.ts';
import { bodyOf, type Op, timesOf } from './records.ts';

/** Nothing to record, so that the caller can end a step. */
const NOTHING: Op[] = [];

/** The records of the shortest journal that makes a table, and empty ones between them. */
export function* snapshot(table: InodeTable): Generator<Op[]> {
  let keys = table.placeholderKeys;
  for (const inode of table.found()) {
    const { id, ino, mode, uid, gid } = inode;
    yield [['new', id, ino, mode, uid, gid, timesOf(inode), bodyOf(inode)]];
    if (!inode.isAgentText) continue;
    yield [['text', id, ...keys]];
    keys = [];
  }
  for (const inode of table.found()) {
    if (inode.entries === undefined) {
      yield NOTHING;
      continue;
    }
    for (const [name, entry] of inode.entries.found()) {
      yield [entry === WHITEOUT ? ['hide', inode.id, name] : ['link', inode.id, name, entry.id]];
    }
  }
  for (const { dev, ino, id } of table.aliases.entries()) {
    const inode = table.find(id);
    if (inode !== undefined) yield [['alias', id, dev, ino, inode.aliases]];
  }
  for (const [path, identity] of table.baseVersions.entries()) yield [['seen', path, ...identity]];
  if (table.rebased !== undefined) yield [['rebased', table.rebased.commit, table.rebased.stage]];
}
