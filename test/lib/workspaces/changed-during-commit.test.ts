import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { ENOSPC } from '../../../lib/linux/errno.ts';
import { Delta } from '../../../lib/workspaces/delta/delta.ts';
import { commitAll, commitPaused } from './commit.ts';
import { onDisk } from './on-disk.ts';
import { Sandbox } from './sandbox.ts';

const changes = (s: Sandbox) =>
  s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, kind, conflict }) => ({ path, kind, conflict }));

const MAKE = {
  file: (s: Sandbox) => s.create('x', 'file'),
  directory: (s: Sandbox) => s.mkdir('x'),
  link: (s: Sandbox) => s.symlink('target', 'x'),
};
type Kind = keyof typeof MAKE;
const remove = (s: Sandbox, kind: Kind) => (kind === 'directory' ? s.rmdir('x') : s.unlink('x'));

const TIMES = ['before', 'after'] as const;
const REPLACED = TIMES.flatMap((when) =>
  (['file', 'directory'] as const).flatMap((from) =>
    (['file', 'directory', 'link'] as const).filter((to) => to !== from).map((to) => ({ when, from, to })),
  ),
);

describe('a new path that is changed while it is committed', () => {
  it.each(REPLACED)('has no conflict if a $from becomes a $to $when the codebase has it', ({ when, from, to }) => {
    const s = new Sandbox();
    MAKE[from](s);
    const replace = () => {
      remove(s, from);
      MAKE[to](s);
    };
    commitAll(s, false, { [when]: replace });
    expect(changes(s)).toEqual([{ path: 'x', kind: 'modified', conflict: false }]);
    if (to === 'link') return;
    commitAll(s);
    expect(statSync(join(s.spec.base, 'x')).isDirectory()).toBe(to === 'directory');
    expect(changes(s)).toEqual([]);
  });

  it.each(TIMES.flatMap((when) => (['file', 'directory'] as const).map((kind) => ({ when, kind }))))(
    'does not come back if a $kind is removed $when the codebase has it, and looked up',
    ({ when, kind }) => {
      const s = new Sandbox();
      MAKE[kind](s);
      const gone = () => remove(s, kind);
      const after = () => {
        if (when === 'after') gone();
        s.lookup('x');
        s.list('');
      };
      commitAll(s, false, { ...(when === 'before' && { before: gone }), after });
      expect(s.exists('x')).toBe(false);
      expect(s.list('')).not.toContain('x');
      expect(changes(s)).toEqual([{ path: 'x', kind: 'deleted', conflict: false }]);
    },
  );
});

describe('a rebase that fails', () => {
  it('shows nothing that was removed since, and is repeated by a resumed one', () => {
    const s = new Sandbox();
    s.create('x', 'file');
    const rebase = vi.spyOn(s.fs, 'rebase');
    const failing = vi.spyOn(Delta.prototype, 'committing');
    onTestFinished(() => failing.mockRestore());
    const after = () => {
      s.unlink('x');
      failing.mockImplementationOnce(() => {
        throw ENOSPC;
      });
    };
    expect(() => commitAll(s, false, { after })).toThrow();
    expect([s.exists('x'), s.list('')]).toEqual([false, []]);
    const [spec, stage] = rebase.mock.calls[0]!;
    s.fs.rebase(spec, { ...stage, resumed: true });
    expect([s.exists('x'), s.list('')]).toEqual([false, []]);
    expect(changes(s)).toEqual([{ path: 'x', kind: 'deleted', conflict: false }]);
  });
});

describe('a directory that became a file', () => {
  it('does not come back as one if that is removed when the codebase has neither', async () => {
    const s = new Sandbox({ 'e/x': '' });
    s.unlink('e/x');
    s.rmdir('e');
    s.create('e', 'file');
    let times = 0;
    const during = () => void (times++ === 1 && s.unlink('e'));
    const look = () => expect(s.exists('e')).toBe(false);
    commitPaused(s, { during, after: look });
    look();
    commitPaused(s);
    expect(onDisk(s.spec.base)).toEqual({});
  });
});

describe('a directory that is renamed while it is committed', () => {
  it.each(['before', 'during', 'after'] as const)('has what it showed at its new path: %s', (moment) => {
    const s = new Sandbox({ 'p/a': 'a', 'p/b': 'b' });
    s.create('p/new', 'new');
    commitPaused(s, { [moment]: () => s.exists('p') && s.rename('p', 'q') });
    const tree = { 'q/': '', 'q/a': 'a', 'q/b': 'b', 'q/new': 'new' };
    expect(s.tree()).toEqual(tree);
    commitPaused(s);
    expect(onDisk(s.spec.base)).toEqual(tree);
  });

  it('does not show a file that was removed in it since', () => {
    const s = new Sandbox({ 'p/a': 'a' });
    s.create('p/new', 'new');
    const move = () => {
      s.rename('p', 'q');
      s.unlink('q/new');
    };
    commitPaused(s, { before: move });
    expect(s.tree()).toEqual({ 'q/': '', 'q/a': 'a' });
  });
});

describe('a renamed directory that replaces another one', () => {
  it('shows no file of that one after its commit', async () => {
    const s = new Sandbox({ 'dist/both': 'old', 'dist/old': 'old', 'next/both': 'new', 'next/new': 'new' });
    for (const path of ['dist/both', 'dist/old']) s.unlink(path);
    s.rmdir('dist');
    s.rename('next', 'dist');
    const tree = { 'dist/': '', 'dist/both': 'new', 'dist/new': 'new' };
    commitPaused(s);
    expect(s.tree()).toEqual(tree);
    expect(onDisk(s.spec.base)).toEqual(tree);
  });
});

describe('a directory that replaced its former self', () => {
  it('does not show again what is removed in it during a commit of something else', () => {
    const s = new Sandbox({ 'p/c': 'c', 'p/z': 'z' });
    for (const path of ['p/c', 'p/z']) s.unlink(path);
    s.rmdir('p');
    s.mkdir('p');
    s.create('p/c', 'c');
    commitAll(s, false, { before: () => s.unlink('p/c') });
    expect(s.exists('p/c')).toBe(false);
    expect(changes(s)).toEqual([{ path: 'p/c', kind: 'deleted', conflict: false }]);
  });
});

it.each(['before', 'during', 'after'] as const)(
  'a directory keeps the mode that it gets %s its mode is committed',
  async (when) => {
    const s = new Sandbox({ 'd/f': '' });
    const mode = s.stat('d').mode & 0o777;
    s.set('d', { mode: 0o700 });
    commitPaused(s, { [when]: () => s.set('d', { mode }) });
    expect(s.stat('d').mode & 0o777).toBe(mode);
    commitPaused(s);
    expect(statSync(join(s.spec.base, 'd')).mode & 0o777).toBe(mode);
  },
);
