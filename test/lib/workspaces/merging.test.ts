import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { complete } from '../../../lib/fuse/connection/steps.ts';
import { apply } from '../../../lib/workspaces/delta/index/apply.ts';
import { InodeTable } from '../../../lib/workspaces/delta/index/inode-table.ts';
import { resolvingMerges } from '../../../lib/workspaces/delta/index/older-merges.ts';
import type { Op } from '../../../lib/workspaces/delta/index/records.ts';
import { ownDirectories } from './own-directories.ts';
import { Sandbox } from './sandbox.ts';
import { settledPaths } from './settled-paths.ts';

/** Returns each change as its path, with `!` for a conflict and `-` for a deletion. */
function changes(s: Sandbox): string[] {
  return s.fs
    .changes(s.spec.id, ROOT_PATH, 1000)
    .changes.map(({ path, kind, conflict }) => `${conflict ? '!' : ''}${kind === 'deleted' ? '-' : ''}${path}`);
}

/** Adds files to the base, like a commit of another sandbox or an upload. */
function arrive(s: Sandbox, ...paths: string[]): void {
  s.fs.baseChanging('cb_1', paths.map(fromText));
  for (const path of paths) s.putBase(path, `base ${path}`);
  s.fs.baseChanged('cb_1', paths.map(fromText));
}

function go(s: Sandbox, path: string): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  rmSync(join(s.spec.base, path), { recursive: true });
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

/** Commits all changes of the sandbox, as the server does. */
function commit(s: Sandbox): void {
  const all = s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes;
  const own = ownDirectories(s);
  const paths = all.map(({ path }) => path);
  s.fs.baseChanging('cb_1', paths);
  for (const { path, now, base } of all) {
    const directory = ((now ?? base!).mode & 0o170000) === 0o040000;
    if (now === undefined) rmSync(join(s.spec.base, path), { recursive: true, force: true });
    else s.putBase(directory ? `${path}/` : path, directory ? '' : s.read(path));
  }
  const settled = settledPaths(all, own);
  s.fs.rebase(s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: false });
  s.fs.baseChanged('cb_1', paths);
}

const ENDS = {
  'at once': () => {},
  'after a restart': (s: Sandbox) => s.restart(),
  'after the kernel has forgotten everything': (s: Sandbox) => s.forgetAll(),
  'after a checkpoint': (s: Sandbox) => void s.fs.freeze(s.spec.id),
};

describe.each(Object.entries(ENDS))('a directory that the sandbox and another one created, %s', (_when, end) => {
  it('contains the files of both, and only the sandbox’s own are changes', () => {
    const s = new Sandbox({ a: 'a' });
    s.mkdir('d');
    s.create('d/mine', 'mine');
    expect(s.lookup('d/theirs')).toBeUndefined();
    end(s);
    arrive(s, 'd/theirs');
    end(s);
    expect(s.tree()).toMatchObject({ 'd/mine': 'mine', 'd/theirs': 'base d/theirs' });
    expect(changes(s)).toEqual(['d/mine']);
    commit(s);
    expect(changes(s)).toEqual([]);
    s.write('d/theirs', 'MINE');
    arrive(s, 'd/mine');
    expect(s.read('d/mine')).toBe('base d/mine');
    expect(changes(s)).toEqual(['d/theirs']);
  });

  it('merges at every depth, whichever directories existed', () => {
    const s = new Sandbox();
    for (const dir of ['d', 'd/e', 'd/e/f', 'd/g']) s.mkdir(dir);
    s.create('d/e/f/mine', 'mine');
    end(s);
    arrive(s, 'd/e/f/theirs', 'd/e/h/theirs', 'd/top');
    end(s);
    expect(s.tree()).toEqual({
      'd/': '',
      'd/e/': '',
      'd/e/f/': '',
      'd/e/f/mine': 'mine',
      'd/e/f/theirs': 'base d/e/f/theirs',
      'd/e/h/': '',
      'd/e/h/theirs': 'base d/e/h/theirs',
      'd/g/': '',
      'd/top': 'base d/top',
    });
    expect(changes(s)).toEqual(['d/e/f/mine', 'd/g']);
  });

  it('is in conflict only for a common entry, which can be discarded', () => {
    const s = new Sandbox();
    s.mkdir('d', 0o700);
    for (const name of ['same', 'other']) s.create(`d/${name}`, name);
    end(s);
    arrive(s, 'd/same', 'd/theirs');
    end(s);
    expect(changes(s)).toEqual(['d', 'd/other', '!d/same']);
    expect(s.fs.revert(s.spec.id, [fromText('d/same')])).toBe(1);
    expect(s.read('d/same')).toBe('base d/same');
    expect(changes(s)).toEqual(['d', 'd/other']);
  });

  it('is renamed with its files, and the old path stays removed', () => {
    const s = new Sandbox();
    s.mkdir('d');
    s.mkdir('d/sub');
    s.create('d/sub/mine', 'mine');
    arrive(s, 'd/sub/theirs');
    end(s);
    s.rename('d', 'e');
    end(s);
    expect(s.tree()).toEqual({
      'e/': '',
      'e/sub/': '',
      'e/sub/mine': 'mine',
      'e/sub/theirs': 'base d/sub/theirs',
    });
    expect(changes(s)).toEqual(['-d', '-d/sub', '-d/sub/theirs', 'e', 'e/sub', 'e/sub/mine', 'e/sub/theirs']);
    s.mkdir('d');
    end(s);
    expect(s.list('d')).toEqual([]);
  });

  it('merges at its new path only if it was renamed before', () => {
    const s = new Sandbox();
    s.mkdir('d');
    s.mkdir('d/sub');
    s.rename('d', 'e');
    end(s);
    arrive(s, 'd/sub/old', 'e/sub/new');
    end(s);
    expect(s.list('e/sub')).toEqual(['new']);
    expect(s.list('d/sub')).toEqual(['old']);
    expect(changes(s)).toEqual([]);
  });

  it('returns to its previous state when the other one is removed', () => {
    const s = new Sandbox();
    s.mkdir('d');
    s.create('d/mine', 'mine');
    arrive(s, 'd/theirs');
    end(s);
    expect(s.list('d')).toEqual(['mine', 'theirs']);
    go(s, 'd');
    end(s);
    expect(s.list('d')).toEqual(['mine']);
    expect(changes(s)).toEqual(['d', 'd/mine']);
    s.rename('d', 'e');
    arrive(s, 'd/again');
    end(s);
    expect(s.list('e')).toEqual(['mine']);
    expect(changes(s)).toEqual(['e', 'e/mine']);
  });

  it('is removed with the files of both', () => {
    const s = new Sandbox();
    s.mkdir('d');
    s.create('d/mine', 'mine');
    arrive(s, 'd/theirs');
    end(s);
    for (const name of s.list('d')) s.unlink(`d/${name}`);
    s.rmdir('d');
    end(s);
    expect(s.exists('d')).toBe(false);
    expect(changes(s)).toEqual(['-d', '-d/theirs']);
  });
});

describe('a directory that was removed and recreated', () => {
  function remade(): Sandbox {
    const s = new Sandbox({ 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z' });
    for (const path of ['d/x', 'd/y', 'd/sub/z']) s.unlink(path);
    s.rmdir('d/sub');
    s.rmdir('d');
    s.mkdir('d');
    s.create('d/y', 'Y');
    return s;
  }

  it('does not show the old entries, and a commit removes them', () => {
    const s = remade();
    s.restart();
    expect(s.list('d')).toEqual(['y']);
    expect(changes(s)).toEqual(['-d/sub', '-d/sub/z', '-d/x', 'd/y']);
  });

  it('does not remove entries that were added later, and shows them after the commit', () => {
    const s = remade();
    arrive(s, 'd/later', 'd/sub/later', 'd/new/later');
    s.restart();
    expect(changes(s)).toEqual(['-d/sub/z', '-d/x', 'd/y']);
    commit(s);
    expect(changes(s)).toEqual([]);
    expect(Object.keys(s.tree('d'))).toEqual(['d/later', 'd/new/', 'd/new/later', 'd/sub/', 'd/sub/later', 'd/y']);
  });

  it('is in conflict for an entry that it removed and another sandbox changed, or that both created', () => {
    const s = remade();
    s.create('d/both', 'mine');
    arrive(s, 'd/x', 'd/both');
    expect(changes(s)).toEqual(['!d/both', '-d/sub', '-d/sub/z', '!-d/x', 'd/y']);
  });

  it('at the old path of a renamed directory does not show that one’s files twice', () => {
    const s = new Sandbox({ 'd/x': 'x' });
    s.rename('d', 'e');
    s.mkdir('d');
    arrive(s, 'd/later');
    s.restart();
    expect([s.list('d'), s.list('e')]).toEqual([[], ['later', 'x']]);
    expect(changes(s)).toEqual(['-d/later', '-d/x', 'e', 'e/later', 'e/x']);
  });
});

describe('a directory in the journal of an older server without merged directories', () => {
  const times = [0, 0, 0, 0, 0, 0] as const;
  const directory = (id: number, name: string, dir = 1): Op[] => [
    ['new', id, 2 ** 48 + id, 0o40755, 1, 1, [...times], null],
    ['link', dir, fromText(name), id],
  ];

  function merges(...ops: Op[]): boolean | undefined {
    const table = new InodeTable();
    for (const op of [['new', 1, 1, 0o40755, 0, 0, [...times], ''] as Op, ...directory(2, 'd'), ...ops])
      apply(table, op);
    complete(resolvingMerges(table));
    return table.get(2)!.merges;
  }

  it.each<[string, boolean, Op[]]>([
    ['merges if there was no entry', true, [['seen', fromText('dx'), 9, 0, 0, 0, 0], ...directory(3, 'e', 2)]],
    ['is opaque if a file was removed in it', false, [['seen', fromText('d/sub/x'), 9, 0, 0, 0, 0]]],
    [
      'is opaque where a directory was renamed',
      false,
      [
        ['new', 3, 7, 0o40755, 1, 1, [...times], fromText('d')],
        ['link', 1, fromText('e'), 3],
      ],
    ],
  ])('%s', (_what, expected, ops) => {
    expect(merges(...ops)).toBe(expected);
  });
});
