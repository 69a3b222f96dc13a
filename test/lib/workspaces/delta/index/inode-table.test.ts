import { describe, expect, it, vi } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { complete } from '../../../../../lib/fuse/connection/steps.ts';
import { apply } from '../../../../../lib/workspaces/delta/index/apply.ts';
import { flattening } from '../../../../../lib/workspaces/delta/index/flatten.ts';
import { InodeTable, ROOT_ID } from '../../../../../lib/workspaces/delta/index/inode-table.ts';
import { findingOrphans, removingOrphans } from '../../../../../lib/workspaces/delta/index/orphans.ts';
import { MERGES, type Op, type Times } from '../../../../../lib/workspaces/delta/index/records.ts';
import { snapshot } from '../../../../../lib/workspaces/delta/index/snapshot.ts';
import { longestArrayIn } from '../../longest-array.ts';

const LAYER = 'sb_1.1';
const FILE = 0o100644;
const DIRECTORY = 0o40755;
const TIMES: Times = [1, 2, 3, 4, 5, 6];
/** Above 2^31. */
const SUM = 0xfedcba98;

const newDirectory = (id: number): Op => ['new', id, 2 ** 48 + id, DIRECTORY, 7, 8, TIMES, MERGES];
const newFile = (id: number, ino = 2 ** 48 + id): Op => ['new', id, ino, FILE, 7, 8, TIMES, [LAYER, id, -1, 0, 0, 0]];

function tableOf(...ops: Op[]): InodeTable {
  const table = new InodeTable();
  for (const op of [newDirectory(ROOT_ID), ...ops]) apply(table, op);
  return table;
}

function goneOnFrom(below: InodeTable): InodeTable {
  below.frozen = true;
  return new InodeTable(below);
}

/** Returns the journal records that recreate the table. */
const journalOf = (table: InodeTable) => [...snapshot(table)].flat();

describe('an inode table', () => {
  it('tells each inode once, whichever table of a chain has it, also those copied meanwhile', () => {
    const ids = Array.from({ length: 100 }, (_, n) => n + 2);
    const table = goneOnFrom(goneOnFrom(tableOf(...ids.map((id) => newFile(id)))));
    for (const id of [3, 40, 99]) table.get(id);
    apply(table, newFile(200));
    table.remove(table.require(50));
    const told: number[] = [];
    for (const { id } of table.found()) {
      told.push(id);
      if (told.length === 20) for (const other of ids) table.get(other);
    }
    expect(told.sort((a, b) => a - b)).toEqual([ROOT_ID, ...ids.filter((id) => id !== 50), 200]);
  });

  it('has a snapshot that can be interrupted at each inode, also where there is nothing to record', () => {
    const ids = Array.from({ length: 100 }, (_, n) => n + 2);
    expect([...snapshot(tableOf(...ids.map((id) => newFile(id))))].length).toBeGreaterThanOrEqual(2 * ids.length);
  });

  it('is recreated by its snapshot', () => {
    const table = tableOf(
      newDirectory(2),
      ['link', ROOT_ID, fromText('d'), 2],
      newFile(3),
      ['link', 2, fromText('f'), 3],
      ['link', ROOT_ID, fromText('same'), 3],
      ['data', 3, LAYER, 3, 12, 100, 9, 10, SUM],
      ['new', 4, 2 ** 48 + 4, 0o120777, 7, 8, TIMES, fromText('target')],
      ['link', 2, fromText('l'), 4],
      ['new', 5, 2 ** 48 + 5, 0o20644, 7, 8, TIMES, 259],
      ['link', 2, fromText('device'), 5],
      ['hide', 2, fromText('gone')],
      ['seen', fromText('d/gone'), 4711, FILE, 2 ** 40, 11, 12],
      ['origin', 2, fromText('elsewhere')],
      ['alias', 3, 5, 77, 2],
      ['rebased', 'commit', 1],
    );
    const again = new InodeTable();
    for (const op of journalOf(table)) apply(again, op);
    expect(journalOf(again)).toEqual(journalOf(table));
    expect(again.get(3)).toMatchObject({ size: 100, expected: SUM, aliases: 2, linkCount: 2, names: 4 });
    expect(again.get(4)).toMatchObject({ target: 'target', size: 6, origin: undefined });
    expect(again.get(5)).toMatchObject({ rdev: 259, target: undefined });
    expect(again.get(2)).toMatchObject({ origin: 'elsewhere', merges: false, subdirs: 0, reach: 6 });
    expect(again.baseVersions.get(fromText('d/gone'))).toEqual([4711, FILE, 2 ** 40, 11, 12]);
  });

  it('keeps the times of each record', () => {
    const table = tableOf(newFile(2), ['touch', 2, 20, 21]);
    expect(table.get(2)).toMatchObject({
      atime: { sec: 1, nsec: 2 },
      mtime: { sec: 20, nsec: 21 },
      ctime: { sec: 20, nsec: 21 },
    });
    apply(table, ['ctime', 2, 30, 31]);
    apply(table, ['attr', 2, 0o100600, 1, 2, [-1, 999_999_999, 2 ** 33, 0, 40, 41], 0, 0]);
    expect(table.get(2)).toMatchObject({
      mode: 0o100600,
      atime: { sec: -1, nsec: 999_999_999 },
      mtime: { sec: 2 ** 33, nsec: 0 },
      ctime: { sec: 40, nsec: 41 },
      hostMtime: undefined,
    });
  });

  it('knows every name of a file during additions and removals', () => {
    const table = tableOf(newFile(2));
    for (const name of ['a', 'b', 'c', 'd']) apply(table, ['link', ROOT_ID, fromText(name), 2]);
    const inode = table.get(2)!;
    const names = () => inode.links.map(({ name }) => name).sort();
    apply(table, ['drop', ROOT_ID, fromText('a')]);
    expect(names()).toEqual(['b', 'c', 'd']);
    apply(table, ['drop', ROOT_ID, fromText('c')]);
    expect(names()).toEqual(['b', 'd']);
    for (const name of ['b', 'd']) apply(table, ['hide', ROOT_ID, fromText(name)]);
    expect([inode.names, inode.firstLink]).toEqual([0, undefined]);
    expect([...complete(findingOrphans(table))]).toEqual([2]);
  });

  it('removes many unlinked inodes a part at a time, also those of the table that it extends', () => {
    const ids = Array.from({ length: 10_000 }, (_, n) => n + 2);
    const below = tableOf(...ids.map((id) => newFile(id)));
    const orphans = complete(findingOrphans(below));
    expect([...orphans]).toEqual(ids);
    const table = goneOnFrom(below);
    let copied = 0;
    const get = vi.spyOn(table, 'get').mockImplementation((id) => {
      copied++;
      return InodeTable.prototype.get.call(table, id);
    });
    let most = 0;
    for (let [steps, done] = [removingOrphans(table, orphans), false]; !done; most = Math.max(most, copied)) {
      copied = 0;
      done = steps.next().done === true;
    }
    expect(get).toHaveBeenCalledTimes(ids.length);
    expect(most).toBeLessThanOrEqual(64);
    expect(table.size).toBe(1);
  });

  it('finds many unlinked inodes without one long array', () => {
    const table = tableOf(...Array.from({ length: 10_000 }, (_, n) => newFile(n + 2)));
    const longest = longestArrayIn(() => {
      complete(findingOrphans(table));
      complete(removingOrphans(table));
    });
    expect(longest).toBe(4096);
  });

  it('no longer counts the memory of removed entries', () => {
    const table = tableOf();
    const before = table.ownMemory;
    const ops: Op[] = [
      newFile(2),
      newDirectory(3),
      ['link', ROOT_ID, fromText('d'), 3],
      ['seen', fromText('d/h'), 9, FILE, 1, 2, 3],
    ];
    for (const name of ['a', 'b']) ops.push(['link', 3, fromText(name), 2]);
    for (const op of ops) apply(table, op);
    expect(table.ownMemory).toBeGreaterThan(before + 900);
    for (const op of [
      ['drop', 3, fromText('a')],
      ['drop', 3, fromText('b')],
      ['drop', ROOT_ID, fromText('d')],
      ['unseen', fromText('d/h')],
    ] as Op[])
      apply(table, op);
    for (const id of [2, 3]) expect(table.remove(table.get(id)!)).toBe(true);
    expect(table.ownMemory).toBe(before);
  });
});

describe('an inode table that extends a frozen one', () => {
  it('does not change it, and equals its flattened form', () => {
    const below = tableOf(
      newDirectory(2),
      ['link', ROOT_ID, fromText('d'), 2],
      newFile(3),
      ['link', 2, fromText('f'), 3],
      newFile(4, 50),
      ['link', 2, fromText('other'), 4],
    );
    apply(below, ['link', ROOT_ID, fromText('second'), 3]);
    const before = journalOf(below);
    const table = goneOnFrom(below);
    expect(journalOf(complete(flattening(table)))).toEqual(journalOf(table));
    apply(table, ['drop', 2, fromText('f')]);
    apply(table, ['link', ROOT_ID, fromText('third'), 3]);
    apply(table, ['data', 3, 'sb_2.1', 3, 3, 5, 1, 1, SUM]);
    expect(
      table
        .get(3)!
        .links.map(({ dir, name }) => `${dir.id}/${name}`)
        .sort(),
    ).toEqual([`${ROOT_ID}/second`, `${ROOT_ID}/third`]);
    expect(table.get(ROOT_ID)!.entries!.get(fromText('third'))).toBe(table.get(3));
    expect(table.keepsIno(50)).toBe(true);
    apply(table, ['drop', 2, fromText('other')]);
    table.remove(table.get(4)!);
    expect([table.keepsIno(50), table.get(4), below.get(4)?.ino]).toEqual([false, undefined, 50]);
    expect(journalOf(below)).toEqual(before);
    expect(journalOf(complete(flattening(table)))).toEqual(journalOf(table));
  });

  it('has its own versions of the base', () => {
    const below = tableOf(['seen', fromText('a'), 1, FILE, 2, 3, 4], ['seen', fromText('b'), 5, FILE, 6, 7, 8]);
    const table = goneOnFrom(below);
    apply(table, ['unseen', fromText('a')]);
    apply(table, ['seen', fromText('a'), 9, FILE, 10, 11, 12]);
    apply(table, ['unseen', fromText('b')]);
    apply(table, ['seen', fromText('c'), 13, FILE, 14, 15, 16]);
    expect([...table.baseVersions.entries()]).toEqual([
      ['a', [9, FILE, 10, 11, 12]],
      ['c', [13, FILE, 14, 15, 16]],
    ]);
    expect(below.baseVersions.get(fromText('a'))).toEqual([1, FILE, 2, 3, 4]);
    expect([table.baseVersions.pathOf(13), table.baseVersions.pathOf(5)]).toEqual(['c', undefined]);
  });
});
