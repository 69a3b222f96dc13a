import { beforeEach, describe, expect, it } from 'vitest';
import { NO_KEY } from '../../../../lib/trees/format/keys.ts';
import { archiveOf } from './archives.ts';
import { codeOf, TreeScratch } from './trees.ts';

let scratch: TreeScratch;
beforeEach(() => {
  scratch = new TreeScratch();
});

describe('a version', () => {
  it('says how it came about, when, where, and of which one', async () => {
    const before = scratch.codebase.head;
    scratch.now += 1234;
    await scratch.put('a/b');
    const { head } = scratch.codebase;
    const { number, kind, createdAt, parent, paths, root, nextIno } = scratch.store.version(head.version);
    expect({ number, kind, createdAt, parent, paths }).toEqual({
      number: 2,
      kind: 'upload',
      createdAt: scratch.now,
      parent: before.version,
      paths: ['a/b'],
    });
    expect([root, nextIno]).toEqual([head.root, head.nextIno]);
    expect(scratch.store.version(before.version)).toMatchObject({ kind: 'create', parent: NO_KEY });
    await scratch.codebase.remove('a/b');
    expect(scratch.store.version(scratch.codebase.head.version).kind).toBe('remove');
  });

  it('has all changes that waited, and is answered to each', async () => {
    const first = scratch.put('first');
    const others = Array.from({ length: 100 }, (_, n) => scratch.put(`d/f${n}`));
    const removed = scratch.codebase.remove('first');
    const refused = codeOf(() => scratch.codebase.remove('none'));
    await Promise.all([first, ...others, removed]);
    expect(await refused).toBe('NOT_FOUND');
    expect(scratch.heads.moves).toBeLessThanOrEqual(2);
    expect(scratch.counted[0]).toBe(100);
  });

  it('is not made by a change that is refused', async () => {
    const { head } = scratch.codebase;
    expect(await codeOf(() => scratch.codebase.remove('none'))).toBe('NOT_FOUND');
    expect(scratch.codebase.head).toBe(head);
  });

  it('is made again on the head that somebody else has moved meanwhile', async () => {
    await scratch.put('a', 'mine');
    const other = new TreeScratch(
      scratch.disk.crashed(() => 1),
      scratch.codebase.head,
    );
    await other.put('b', 'other');
    let times = 0;
    scratch.heads.onAdvance = () => {
      if (times++ === 0)
        scratch.heads.head = { ...scratch.codebase.head, nextIno: scratch.codebase.head.nextIno + 500 };
    };
    await scratch.put('c', 'mine');
    expect(times).toBe(2);
    expect(scratch.codebase.file('c').ino).toBeGreaterThan(500);
    expect(scratch.list()).toEqual(['a', 'c']);
  });

  it('that nobody can move the head to fails its changes, and later ones are made', async () => {
    scratch.heads.onAdvance = () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    };
    const codes = await Promise.all(['a', 'b'].map((path) => codeOf(() => scratch.put(path))));
    expect(codes).toEqual(['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED']);
    scratch.heads.onAdvance = () => {};
    await scratch.put('c');
    expect(scratch.list()).toEqual(['c']);
  });

  it('does not take other changes with it if one cannot be made', async () => {
    await scratch.put('a/x');
    const key = scratch.codebase.head.root.key;
    await scratch.put('b/x');
    expect(key).not.toBe(scratch.codebase.head.root.key);
    const load = scratch.store.load.bind(scratch.store);
    const damaged =
      scratch.codebase.list({ path: 'a', recursive: false, page_size: 1, page_token: '' }) && directoryKey('a');
    scratch.store.load = (wanted) => {
      if (wanted === damaged) throw Object.assign(new Error('unreadable'), { code: 'EIO' });
      return load(wanted);
    };
    const codes = await Promise.all(['a/y', 'b/y', 'c'].map((path) => codeOf(() => scratch.put(path))));
    expect(codes).toEqual(['UNAVAILABLE', 'fulfilled', 'fulfilled']);
  });
});

function directoryKey(name: string) {
  const object = scratch.store.load(scratch.codebase.head.root.key);
  return object.entry(object.find(name as never)).key;
}

describe('inode numbers', () => {
  it('of a lease are given to nobody else', async () => {
    await scratch.put('a');
    const first = await scratch.codebase.leaseNumbers(1000);
    await scratch.put('b');
    const { ino } = scratch.codebase.file('b');
    expect([scratch.codebase.file('a').ino < first, ino >= first + 1000]).toEqual([true, true]);
    const later = new TreeScratch(
      scratch.disk.crashed(() => 1),
      scratch.codebase.head,
    );
    await later.put('c');
    expect(later.codebase.file('c').ino).toBeGreaterThan(ino);
  });

  it('of a lease are not those of an archive that arrives meanwhile', async () => {
    const importing = scratch.codebase.import();
    scratch.heads.onAdvance = async () => {
      scratch.heads.onAdvance = () => {};
      await importing.feed(archiveOf([['a', 'x']]));
    };
    const first = await scratch.codebase.leaseNumbers(1000);
    await importing.finish('merge', '');
    importing.drop();
    expect(scratch.codebase.file('a').ino).toBeGreaterThanOrEqual(first + 1000);
  });

  it('are different for all entries', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => scratch.put(`d${n % 7}/f${n}`)));
    await scratch.put('d0/f0', 'again');
    const { root, nextIno } = scratch.codebase.head;
    const numbers = new Set([root.ino]);
    const paths = scratch.list();
    for (const path of paths) if (path.includes('/')) numbers.add(scratch.codebase.file(path).ino);
    expect(numbers.size).toBe(51);
    expect(Math.max(...numbers)).toBeLessThan(nextIno);
  });
});

describe('a codebase that is removed', () => {
  it('makes the changes before it, and refuses those after it', async () => {
    const before = scratch.put('a');
    const end = scratch.codebase.end(async () => {
      expect(scratch.counted[0]).toBe(1);
    });
    await Promise.all([before, end]);
    expect(await codeOf(() => scratch.put('b'))).toBe('NOT_FOUND');
    expect(await codeOf(() => scratch.list())).toBe('NOT_FOUND');
  });
});
