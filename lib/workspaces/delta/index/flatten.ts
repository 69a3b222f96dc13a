import { StepCounter, type Steps } from '../../../fuse/connection/steps.ts';
import { Inode } from './inode.ts';
import { InodeTable } from './inode-table.ts';

/** Inodes copied in one step. */
const ITEMS_PER_STEP = 64;

/** Returns a table and all that it extends as one table, in steps. The table must not change in the meantime. */
export function* flattening(table: InodeTable): Steps<InodeTable> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  const flat = new InodeTable();
  flat.nextId = table.nextId;
  flat.nextIno = table.nextIno;
  flat.rebased = table.rebased;
  flat.placeholderKeys = table.placeholderKeys;
  for (const inode of table.found()) {
    flat.add(Inode.copyOf(inode, flat));
    if (counter.count()) yield;
  }
  for (const inode of flat.own()) {
    yield* inode.resolving();
    yield* flat.countingLinks(inode);
    if (counter.count()) yield;
  }
  for (const { dev, ino, id } of table.aliases.entries()) {
    flat.aliases.set(dev, ino, id);
    if (counter.count()) yield;
  }
  for (const [path, identity] of table.baseVersions.entries()) {
    flat.baseVersions.add(path, identity);
    if (counter.count()) yield;
  }
  return flat;
}
