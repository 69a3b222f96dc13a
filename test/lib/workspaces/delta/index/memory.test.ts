import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { Slabs } from '../../../../../lib/workspaces/delta/contents/slabs.ts';
import { Unsynced } from '../../../../../lib/workspaces/delta/contents/unsynced.ts';
import { apply } from '../../../../../lib/workspaces/delta/index/apply.ts';
import { InodeTable, ROOT_ID } from '../../../../../lib/workspaces/delta/index/inode-table.ts';
import { MERGES, type Op, type Times } from '../../../../../lib/workspaces/delta/index/records.ts';

/** Entries of one directory: just above a power of two, where the maps of V8 have most unused room. */
const COUNT = 35_000;
/** Memory that an entry may need, in bytes. */
const MOST = 400;
const LAYER = 'sb_1.1';
const FILE = 0o100644;
const NO_SLOT = -1;

/** Memory in bytes of the JavaScript heap and of the buffers outside of it. */
function memoryUsed(): number {
  setFlagsFromString('--expose_gc');
  for (let round = 0; round < 3; round++) runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const TIMES: Times = [1_700_000_001, 1, 1_700_000_002, 2, 1_700_000_003, 3];
/** The inode number of a new inode, and of a base file. */
const newIno = (id: number) => 2 ** 48 + id;
const baseIno = (id: number) => 5_000_000 + id;

/** Records that parse like those of a journal: no string is shared. */
function parsed(...ops: Op[]): Op[] {
  return JSON.parse(JSON.stringify(ops));
}

/** Returns the records that make an entry with this inode id and name. */
type Make = (id: number, name: string) => Op[];

const linked = (id: number, name: string): Op => ['link', ROOT_ID, fromText(name), id];
const seen = (id: number, name: string): Op => ['seen', fromText(`src/${name}`), baseIno(id), FILE, 70_000, 1, 2];

const KINDS: [kind: string, make: Make][] = [
  [
    'a new small file',
    (id, name) => [
      ['new', id, newIno(id), FILE, 4001, 4001, TIMES, [LAYER, id, NO_SLOT, 0, 0, 0]],
      linked(id, name),
      ['data', id, LAYER, id, id * 3, 100, 1_700_000_000, 1, 0xfedcba98],
    ],
  ],
  [
    'a new file over 64 KiB',
    (id, name) => [
      ['new', id, newIno(id), FILE, 4001, 4001, TIMES, [LAYER, id, NO_SLOT, 0, 0, 0]],
      linked(id, name),
      ['attr', id, FILE, 4001, 4001, TIMES, 1_700_000_000, 999_999_999, 70_000],
    ],
  ],
  [
    'a copied-up small file',
    (id, name) => [
      ['new', id, baseIno(id), FILE, 4001, 4001, TIMES, [LAYER, id, id * 3, 100, 0, 0, 0xfedcba98]],
      seen(id, name),
      linked(id, name),
    ],
  ],
  [
    'a copied-up file over 64 KiB',
    (id, name) => [
      ['new', id, baseIno(id), FILE, 4001, 4001, TIMES, [LAYER, id, NO_SLOT, 70_000, 1_700_000_000, 999_999_999]],
      seen(id, name),
      linked(id, name),
    ],
  ],
  ['an empty directory', (id, name) => [['new', id, newIno(id), 0o40755, 4001, 4001, TIMES, MERGES], linked(id, name)]],
  [
    'a symlink',
    (id, name) => [['new', id, newIno(id), 0o120777, 4001, 4001, TIMES, fromText(`../target-${id}`)], linked(id, name)],
  ],
  ['a whiteout', (id, name) => [seen(id, name), ['hide', ROOT_ID, fromText(name)]]],
];

/** What the memory of a delta's entries is in. */
class Index {
  readonly table = new InodeTable();
  readonly slabs = new Slabs('/nonexistent');
  readonly unsynced = new Unsynced();

  constructor() {
    apply(this.table, ['new', ROOT_ID, newIno(ROOT_ID), 0o40755, 0, 0, TIMES, MERGES]);
  }

  fill(make: Make, count: number): void {
    for (let id = 2; id < count + 2; id++) {
      for (const op of parsed(...make(id, `entry-${id}`))) apply(this.table, op);
      const inode = this.table.get(id);
      if (inode?.data === undefined) continue;
      if (inode.data.slot !== NO_SLOT) this.slabs.assign(inode.data.slot, inode);
      else inode.hasFile = true;
      this.unsynced.add(inode);
    }
  }
}

/** Makes entries of a kind. Returns the memory of one in bytes, as measured and as counted. */
function measure(make: Make): { measured: number; counted: number } {
  // The first entries have the code compiled and optimized, which needs memory, too.
  new Index().fill(make, COUNT / 8);
  const index = new Index();
  const [used, before] = [memoryUsed(), index.table.ownMemory];
  index.fill(make, COUNT);
  const measured = (memoryUsed() - used) / COUNT;
  // Used until here, so that nothing of it was collected.
  index.slabs.close();
  index.unsynced.clear();
  return { measured, counted: (index.table.ownMemory - before) / COUNT };
}

describe('the memory of an entry', () => {
  it.each(KINDS)('is at most 400 bytes for %s, and is counted', (kind, make) => {
    let result = measure(make);
    // Other code of the process may have used memory meanwhile.
    for (let again = 0; again < 2 && result.measured >= MOST; again++) result = measure(make);
    const { measured, counted } = result;
    process.stdout.write(`${kind}: ${Math.round(measured)} bytes, counted as ${Math.round(counted)}\n`);
    expect(measured).toBeLessThan(MOST);
    expect(measured).toBeGreaterThan(0);
    expect(counted).toBeGreaterThan(0.9 * measured);
  });
});
