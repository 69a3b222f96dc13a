import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { filterOf, hashOf, mayHave } from '../../../lib/workspaces/history/path-filter.ts';
import { Sandbox } from './sandbox.ts';

const BASE = { 'd/f': 'first', 'd/g': 'other', 'd/e/x': 'x', top: 'top' };
const MTIME = { sec: 1_000_000_000, nsec: 0 };

/** As codebase and server do it for an upload or another sandbox's commit. */
function changeBase(
  s: Sandbox,
  texts: string[],
  change: (at: (path: string) => string) => void,
  removedTexts: string[] = [],
): void {
  const paths = texts.map(fromText);
  const removed = removedTexts.map(fromText);
  s.fs.preserveRemoved(s.spec, removed);
  const { open, candidates } = s.fs.findUnchanged('cb_1', { paths, removed });
  if (!open.includes('sb_1') || candidates.includes('sb_1')) s.fs.revertUnchanged(s.spec, { paths, removed }, false);
  s.fs.baseChanging('cb_1', paths);
  change((path) => join(s.spec.base, path));
  s.fs.baseChanged('cb_1', paths);
}

const changing = (...paths: string[]) => ({ paths: paths.map(fromText), removed: [] });

function upload(s: Sandbox, path: string, content: string, above: string[] = []): void {
  changeBase(s, [...above, path], (at) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(join(s.home, 'upload'), content);
    renameSync(join(s.home, 'upload'), at(path));
  });
}

function changes(s: Sandbox): { path: string; kind: string; conflict: boolean }[] {
  return s.fs.changes('sb_1', ROOT_PATH, 100).changes.map(({ path, kind, conflict }) => ({ path, kind, conflict }));
}

/** rm -r, then all of it again. */
function remake(s: Sandbox): void {
  for (const path of ['d/e/x', 'd/f', 'd/g']) s.unlink(path);
  for (const path of ['d/e', 'd']) s.rmdir(path);
  for (const path of ['d', 'd/e']) s.mkdir(path);
  for (const path of ['d/e/x', 'd/f', 'd/g'] as const) s.create(path, BASE[path]);
}

/** What leaves `d/f` as the codebase has it. */
const WAYS: [string, (s: Sandbox) => unknown][] = [
  ['given other times', (s) => s.set('d/f', { mtime: MTIME })],
  ['given another mode and back', (s) => [s.set('d/f', { mode: 0o755 }), s.set('d/f', { mode: 0o644 })]],
  ['renamed and back', (s) => [s.rename('d/f', 'd/h'), s.rename('d/h', 'd/f')]],
  ['renamed to another directory and back', (s) => [s.rename('d/f', 'h'), s.rename('h', 'd/f')]],
  ['exchanged and back', (s) => [s.rename('d/f', 'd/g', 2), s.rename('d/f', 'd/g', 2)]],
  ['written with the same bytes', (s) => s.write('d/f', 'first')],
  ['emptied and written again', (s) => [s.set('d/f', { size: 0 }), s.write('d/f', 'first')]],
  ['cut to its size', (s) => s.set('d/f', { size: 5 })],
  ['written to and written back', (s) => [s.write('d/f', 'F'), s.write('d/f', 'f')]],
  ['removed and made anew', (s) => [s.unlink('d/f'), s.create('d/f', 'first')]],
  ['linked, and the link removed', (s) => [s.link('d/f', 'd/h'), s.unlink('d/h')]],
  [
    'replaced by a file of the same bytes',
    (s) => {
      s.create('d/.new', 'first');
      s.rename('d/.new', 'd/f');
    },
  ],
];

describe('a file of the sandbox that equals the one of the codebase', () => {
  it.each(WAYS)('%s, shows the new version of the codebase, and is no conflict', (_, act) => {
    const s = new Sandbox(BASE);
    act(s);
    expect(changes(s)).toEqual([]);
    upload(s, 'd/f', 'second');
    expect(s.read('d/f')).toBe('second');
    expect(changes(s)).toEqual([]);
    s.write('d/f', 'S');
    expect(changes(s)).toEqual([{ path: 'd/f', kind: 'modified', conflict: false }]);
  });

  it.each(WAYS.slice(0, 4))('%s, is reverted after a restart although it was not opened', (_, act) => {
    const s = new Sandbox(BASE);
    act(s);
    s.restart();
    upload(s, 'd/f', 'second');
    expect(s.read('d/f')).toBe('second');
    expect(changes(s)).toEqual([]);
    expect(s.fs.usage('sb_1').bytes).toBe(0);
    s.restart();
    expect(s.read('d/f')).toBe('second');
  });

  it('is removed when the codebase removes its file', () => {
    const s = new Sandbox(BASE);
    s.set('d/f', { mtime: MTIME });
    changeBase(s, ['d/f'], (at) => rmSync(at('d/f')), ['d/f']);
    expect(s.list('d')).toEqual(['e', 'g']);
    expect(changes(s)).toEqual([]);
  });

  it('keeps its times until the codebase changes', () => {
    const s = new Sandbox(BASE);
    s.set('d/f', { mtime: MTIME });
    upload(s, 'd/g', 'changed');
    expect(s.stat('d/f').mtime).toEqual(MTIME);
    upload(s, 'd/f', 'second');
    expect(s.stat('d/f').mtime).not.toEqual(MTIME);
  });

  it('keeps its old contents for programs that have it open', () => {
    const s = new Sandbox(BASE);
    s.set('d/f', { mtime: MTIME });
    const open = s.id('d/f');
    upload(s, 'd/f', 'second');
    expect(s.readId(open)).toBe('first');
    expect(s.read('d/f')).toBe('second');
    s.fs.write(s.caller, open, 0, Buffer.from('X'), false);
    expect(s.readId(open)).toBe('Xirst');
    expect(s.read('d/f')).toBe('second');
  });

  it('is a conflict if it is written to between the comparison and the change', () => {
    const s = new Sandbox(BASE);
    s.set('d/f', { mtime: MTIME });
    const open = s.id('d/f');
    s.fs.revertUnchanged(s.spec, changing('d/f'), false);
    s.fs.write(s.caller, open, 0, Buffer.from('X'), false);
    s.fs.baseChanging('cb_1', [fromText('d/f')]);
    writeFileSync(join(s.home, 'upload'), 'second');
    renameSync(join(s.home, 'upload'), join(s.spec.base, 'd/f'));
    s.fs.baseChanged('cb_1', [fromText('d/f')]);
    expect(s.read('d/f')).toBe('Xirst');
    expect(changes(s)).toEqual([{ path: 'd/f', kind: 'modified', conflict: true }]);
  });

  it('keeps hard links that the sandbox created', () => {
    const s = new Sandbox(BASE);
    s.link('d/f', 'h');
    upload(s, 'd/f', 'second');
    expect([s.read('d/f'), s.read('h')]).toEqual(['second', 'first']);
    s.write('h', 'H');
    expect([s.read('d/f'), s.read('h')]).toEqual(['second', 'Hirst']);
    expect(changes(s)).toEqual([{ path: 'h', kind: 'added', conflict: false }]);
  });

  it('with several names in the codebase shows a new version of one of them', () => {
    const s = new Sandbox(BASE);
    linkSync(join(s.spec.base, 'd/f'), join(s.spec.base, 'd/k'));
    s.set('d/f', { mtime: MTIME });
    upload(s, 'd/f', 'second');
    expect([s.read('d/f'), s.read('d/k')]).toEqual(['second', 'first']);
    expect(changes(s)).toEqual([]);
  });

  it('is shown in a directory that the sandbox renamed', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'r');
    s.set('r/f', { mtime: MTIME });
    upload(s, 'd/f', 'second');
    expect(s.read('r/f')).toBe('second');
    expect(changes(s).filter(({ conflict }) => conflict)).toEqual([]);
  });

  it('is kept in a directory that the sandbox renamed when the codebase removes it', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'r');
    s.set('r/f', { mtime: MTIME });
    const paths = ['d/f', 'd/g'];
    changeBase(
      s,
      paths,
      (at) => {
        for (const path of paths) rmSync(at(path));
      },
      paths,
    );
    expect([s.read('r/f'), s.read('r/g')]).toEqual(['first', 'other']);
  });

  it('is shown in a directory that was renamed and back', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'r');
    s.set('r/e/x', { mtime: MTIME });
    s.rename('r', 'd');
    expect(changes(s)).toEqual([]);
    upload(s, 'd/e/x', 'second');
    expect(s.read('d/e/x')).toBe('second');
    expect(changes(s)).toEqual([]);
  });

  it('that became equal by a commit of another sandbox is reverted', () => {
    const s = new Sandbox(BASE);
    s.write('d/f', 'FIRST');
    upload(s, 'd/f', 'FIRST');
    expect(changes(s)).toEqual([]);
    upload(s, 'd/f', 'third');
    expect(s.read('d/f')).toBe('third');
    expect(changes(s)).toEqual([]);
  });

  it('above 64 KiB is compared in steps', () => {
    const size = 300_000;
    const s = new Sandbox({ large: 'a'.repeat(size) });
    s.set('large', { mtime: MTIME });
    const steps = s.fs.begin('revertUnchanged', [s.spec, changing('large'), false])!;
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThan(size / 65_536);
    upload(s, 'large', 'small');
    expect(s.read('large')).toBe('small');
  });

  it('is compared in a step of its own for each file', () => {
    const names = Array.from({ length: 50 }, (_, index) => `file${index}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, 'first'])));
    for (const name of names) s.write(name, 'other');
    const steps = s.fs.begin('revertUnchanged', [s.spec, changing(...names), false])!;
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThanOrEqual(names.length);
  });

  it('too large to be compared is kept, and is a conflict', () => {
    const s = new Sandbox({ large: '' });
    truncateSync(join(s.spec.base, 'large'), (64 << 20) + 1);
    // A copy of it would take the disk a second.
    s.unlink('large');
    s.create('large');
    s.set('large', { size: (64 << 20) + 1 });
    expect(s.fs.findUnchanged('cb_1', changing('large')).candidates).toEqual([]);
    upload(s, 'large', 'small');
    expect(changes(s)).toEqual([{ path: 'large', kind: 'modified', conflict: true }]);
  });

  it('is reverted together with the record of its base version', () => {
    const s = new Sandbox(BASE);
    s.set('d/e/x', { mtime: MTIME });
    expect(s.fs.usage('sb_1').files).toBeGreaterThan(1);
    upload(s, 'd/e/x', 'second');
    expect(s.fs.usage('sb_1')).toEqual({ bytes: 0, files: 1 });
    s.restart();
    expect(s.read('d/e/x')).toBe('second');
  });
});

describe('an unchanged entry that is reverted', () => {
  it('is a recreated symlink', () => {
    const s = new Sandbox(BASE);
    s.linkBase('top', 'l');
    s.unlink('l');
    s.symlink('top', 'l');
    expect(changes(s)).toEqual([]);
    changeBase(s, ['l'], (at) => {
      rmSync(at('l'));
      symlinkSync('d/f', at('l'));
    });
    expect(s.readlink('l')).toBe('d/f');
    expect(changes(s)).toEqual([]);
  });

  it('is the removal of a file that the codebase removed too, and creates again', () => {
    const s = new Sandbox(BASE);
    s.unlink('d/f');
    changeBase(s, ['d/f'], (at) => rmSync(at('d/f')), ['d/f']);
    expect(changes(s)).toEqual([]);
    upload(s, 'd/f', 'back');
    expect(s.read('d/f')).toBe('back');
    s.write('d/f', 'B');
    expect(changes(s)).toEqual([{ path: 'd/f', kind: 'modified', conflict: false }]);
  });

  it('is the removal of a directory that the codebase removed too, and creates again', () => {
    const s = new Sandbox(BASE);
    s.unlink('d/e/x');
    s.rmdir('d/e');
    changeBase(s, ['d/e', 'd/e/x'], (at) => rmSync(at('d/e'), { recursive: true }));
    expect(changes(s)).toEqual([]);
    upload(s, 'd/e/x', 'back', ['d/e']);
    expect(s.read('d/e/x')).toBe('back');
    s.write('d/e/x', 'B');
    expect(changes(s)).toEqual([{ path: 'd/e/x', kind: 'modified', conflict: false }]);
  });

  it('is a recreated directory with the same entries', () => {
    const s = new Sandbox(BASE);
    remake(s);
    expect(changes(s)).toEqual([]);
    upload(s, 'd/e/x', 'second');
    upload(s, 'd/e/new', 'new');
    expect(s.tree('d')).toEqual({ 'd/e/': '', 'd/e/new': 'new', 'd/e/x': 'second', 'd/f': 'first', 'd/g': 'other' });
    expect(changes(s)).toEqual([]);
    s.restart();
    s.write('d/e/x', 'S');
    expect(changes(s)).toEqual([{ path: 'd/e/x', kind: 'modified', conflict: false }]);
  });

  it('is not a recreated directory with other entries', () => {
    const s = new Sandbox(BASE);
    remake(s);
    s.write('d/g', 'OTHER');
    const before = s.tree('d');
    upload(s, 'd/e/x', 'second');
    expect(s.tree('d')).toEqual(before);
    expect(changes(s)).toEqual([
      { path: 'd/e/x', kind: 'modified', conflict: true },
      { path: 'd/g', kind: 'modified', conflict: false },
    ]);
  });

  it('is a directory that was touched, or whose mode was changed and restored', () => {
    const s = new Sandbox(BASE);
    s.set('d', { mtime: MTIME });
    s.set('d/e', { mode: 0o700 });
    s.set('d/e', { mode: 0o755 });
    changeBase(s, ['d', 'd/e'], (at) => {
      chmodSync(at('d'), 0o775);
      chmodSync(at('d/e'), 0o711);
    });
    expect([s.stat('d').mode & 0o777, s.stat('d/e').mode & 0o777]).toEqual([0o775, 0o711]);
    expect(changes(s)).toEqual([]);
  });
});

describe('a directory that the codebase has equal by now', () => {
  const removal = (s: Sandbox, path: string) =>
    changeBase(s, [path], (at) => rmSync(at(path), { recursive: true }), [path]);

  it.each<[string, (s: Sandbox) => unknown, (at: (path: string) => string) => void]>([
    ['with the mode that both gave it', (s) => s.set('d/e', { mode: 0o700 }), (at) => chmodSync(at('d/e'), 0o700)],
    ['that both created', (s) => s.mkdir('d/n'), (at) => mkdirSync(at('d/n'))],
  ])('%s, is removed when the codebase removes it', (_, act, inCodebase) => {
    const s = new Sandbox(BASE);
    act(s);
    const path = s.exists('d/n') ? 'd/n' : 'd/e';
    changeBase(s, [path], inCodebase);
    expect(changes(s)).toEqual([]);
    removal(s, path);
    expect([s.exists(path), changes(s)]).toEqual([false, []]);
  });

  it('follows a later mode of the codebase', () => {
    const s = new Sandbox(BASE);
    s.set('d', { mode: 0o700 });
    changeBase(s, ['d'], (at) => chmodSync(at('d'), 0o700));
    changeBase(s, ['d'], (at) => chmodSync(at('d'), 0o711));
    expect([s.stat('d').mode & 0o777, changes(s)]).toEqual([0o711, []]);
  });

  it('keeps the mode that it was given afterwards, also its first one', () => {
    const s = new Sandbox(BASE);
    s.set('d', { mode: 0o700 });
    changeBase(s, ['d'], (at) => chmodSync(at('d'), 0o700));
    s.set('d', { mode: 0o755 });
    const change = { path: 'd', kind: 'modified', conflict: false };
    expect(changes(s)).toEqual([change]);
    s.restart();
    expect([s.stat('d').mode & 0o777, changes(s)]).toEqual([0o755, [change]]);
  });

  it('keeps what the sandbox has in it', () => {
    const s = new Sandbox(BASE);
    s.mkdir('d/n');
    s.create('d/n/mine');
    changeBase(s, ['d/n'], (at) => mkdirSync(at('d/n')));
    removal(s, 'd/n');
    expect(s.list('d/n')).toEqual(['mine']);
  });

  it('is found in a filter of a sandbox that is not open', () => {
    const s = new Sandbox(BASE);
    s.mkdir('d/n');
    s.fs.detach('sb_1');
    const filter = s.fs.revertUnchanged(s.spec, changing(), true)!;
    expect(mayHave(filter, hashOf(fromText('d/n')))).toBe(true);
  });
});

describe('an entry that is changed', () => {
  it.each<[string, (s: Sandbox) => unknown]>([
    ['contents of the same size', (s) => s.write('d/f', 'FIRST')],
    ['a mode', (s) => s.set('d/f', { mode: 0o755 })],
    ['a removal', (s) => s.unlink('d/f')],
    ['a link in its place', (s) => [s.unlink('d/f'), s.symlink('first', 'd/f')]],
  ])('stays and is a conflict: %s', (_, act) => {
    const s = new Sandbox(BASE);
    act(s);
    const before = s.tree();
    upload(s, 'd/f', 'second');
    expect(s.tree()).toEqual(before);
    expect(changes(s)).toMatchObject([{ path: 'd/f', conflict: true }]);
  });

  it('is not compared for the sandbox that commits', () => {
    const s = new Sandbox(BASE);
    s.set('d/f', { mtime: MTIME });
    expect(s.fs.findUnchanged('cb_1', changing('d/f'), 'sb_1')).toEqual({ open: [], candidates: [] });
    expect(s.fs.findUnchanged('cb_1', changing('d/f'))).toEqual({ open: ['sb_1'], candidates: ['sb_1'] });
    expect(s.fs.findUnchanged('cb_1', changing('d/g'))).toEqual({ open: ['sb_1'], candidates: [] });
    expect(statSync(join(s.spec.base, 'd/f')).size).toBe(5);
  });
});

describe("the filter of a sandbox's own paths", () => {
  it('contains every path that may be reverted', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'r');
    s.set('r/f', { mtime: MTIME });
    s.unlink('top');
    s.create('r/new', '');
    s.mkdir('d');
    s.restart();
    const filter = s.fs.revertUnchanged(s.spec, changing(), true)!;
    for (const path of ['d/f', 'd/new', 'top', 'd']) expect(mayHave(filter, hashOf(fromText(path)))).toBe(true);
    expect(mayHave(filter, hashOf(fromText('d/e/x')))).toBe(false);
  });

  it('excludes most other paths', () => {
    const path = (n: number) => `some/directory/file-${n}.txt`;
    const filter = filterOf(Array.from({ length: 5000 }, (_, n) => hashOf(fromText(path(n)))));
    const found = Array.from({ length: 20_000 }, (_, n) => mayHave(filter, hashOf(fromText(path(n)))));
    expect(found.slice(0, 5000).every(Boolean)).toBe(true);
    expect(found.slice(5000).filter(Boolean).length).toBeLessThan(300);
    expect(mayHave(filterOf([]), hashOf(fromText('a')))).toBe(false);
  });
});
