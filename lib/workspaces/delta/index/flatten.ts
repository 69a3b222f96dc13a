import { Counted, type Steps } from '../../../fuse/connection/steps.ts';
import { Inode } from './inode.ts';
import { InodeTable } from './inode-table.ts';

/** Inodes copied in one step. */
const AT_ONCE = 64;

/** Returns a table and all that it extends as one table, in steps. The table must not change in the meantime. */
export function* flattening(table: InodeTable): Steps<InodeTable> {
  const counted = new Counted(AT_ONCE);
  const flat = new InodeTable();
  flat.nextId = table.nextId;
  flat.nextIno = table.nextIno;
  flat.rebased = table.rebased;
  for (const inode of table.found()) {
    flat.add(Inode.copyOf(inode, flat));
    yield* counted.one();
  }
  for (const inode of flat.own()) {
    yield* inode.resolving();
    yield* flat.countingLinks(inode);
    yield* counted.one();
  }
  for (const { dev, ino, id } of table.aliases.entries()) {
    flat.aliases.set(dev, ino, id);
    yield* counted.one();
  }
  for (const [path, identity] of table.baseVersions.entries()) {
    flat.baseVersions.add(path, identity);
    yield* counted.one();
  }
  return flat;
}
