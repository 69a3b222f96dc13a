import { chmodSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { commitAll, commitOnly } from './commit.ts';
import { Sandbox } from './sandbox.ts';

/** Returns each change as its path, with `!` for a conflict. */
const changes = (s: Sandbox) =>
  s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, conflict }) => `${conflict ? '!' : ''}${path}`);
const bits = (mode: number) => (mode & 0o777).toString(8);
const mode = (s: Sandbox, path: string) => bits(s.stat(path).mode);
const baseMode = (s: Sandbox, path: string) => bits(statSync(join(s.spec.base, path)).mode);

/** A change of a path in the codebase by others. */
function inBase(s: Sandbox, path: string, change: (at: string) => void): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  change(join(s.spec.base, path));
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

function withDirectory(): Sandbox {
  const s = new Sandbox({ 'g/x': 'x', 'g/d/y': 'y' });
  for (const path of ['g', 'g/d']) chmodSync(join(s.spec.base, path), 0o755);
  return s;
}

describe('a directory of the codebase whose mode is changed there', () => {
  const CHANGES: Record<string, (s: Sandbox) => void> = {
    'removed a file': (s) => s.unlink('g/d/y'),
    'changed a file': (s) => s.write('g/d/y', '2'),
    'created a file': (s) => s.create('g/d/new'),
    'created a file and removed it': (s) => {
      s.create('g/d/new');
      s.unlink('g/d/new');
    },
  };

  it.each(Object.entries(CHANGES))('is told to the kernel if the sandbox %s in it', (_what, change) => {
    const s = withDirectory();
    change(s);
    const before = changes(s);
    for (const path of ['g/d', 'g']) {
      const id = s.id(path);
      expect(mode(s, path)).toBe('755');
      s.notices.inodes.length = 0;
      inBase(s, path, (at) => chmodSync(at, 0o700));
      expect(mode(s, path)).toBe('700');
      expect(s.notices.inodes).toContain(id);
    }
    expect(changes(s)).toEqual(before);
  });

  it('is followed after a commit of what the sandbox changed in it', () => {
    for (const rest of [[], ['g/rest']]) {
      const s = withDirectory();
      for (const path of ['g/t', ...rest]) s.create(path);
      commitOnly(s, ['g/t']);
      inBase(s, 'g', (at) => chmodSync(at, 0o711));
      expect([mode(s, 'g'), changes(s)]).toEqual(['711', rest]);
    }
  });
});

/** Ways of a commit. `look` compares the modes that programs see meanwhile. */
const WAYS: Record<string, (s: Sandbox, paths: string[], look: () => void) => void> = {
  'a commit': (s, paths, look) => commitOnly(s, paths, false, { before: look, during: look, after: look }),
  'a commit while the kernel knows nothing of it': (s, paths) => {
    s.forgetAll();
    commitOnly(s, paths);
  },
  'a commit and a restart': (s, paths) => {
    commitOnly(s, paths);
    s.restart();
  },
  'a commit that a crash interrupts': (s, paths, look) => {
    const after = () => {
      s.restart();
      look();
    };
    commitOnly(s, paths, true, { after });
  },
};

describe('a new directory that is not chosen for a commit of something in it', () => {
  function made(paths: string[] = []): Sandbox {
    const s = new Sandbox();
    s.mkdir('g', 0o700);
    s.mkdir('g/s', 0o750);
    for (const path of ['g/s/f', ...paths]) s.create(path);
    return s;
  }

  const expectKept = (s: Sandbox) => {
    expect([mode(s, 'g'), mode(s, 'g/s')]).toEqual(['700', '750']);
  };

  it.each(Object.entries(WAYS))('keeps its mode, which the next commit brings, after %s', (_what, way) => {
    const s = made();
    way(s, ['g/s/f'], () => expectKept(s));
    expect([baseMode(s, 'g'), baseMode(s, 'g/s')]).toEqual(['755', '755']);
    expectKept(s);
    expect(changes(s)).toEqual(['g', 'g/s']);
    s.restart();
    expect(changes(s)).toEqual(['g', 'g/s']);
    commitAll(s);
    expect([baseMode(s, 'g'), baseMode(s, 'g/s')]).toEqual(['700', '750']);
    expectKept(s);
    expect(changes(s)).toEqual([]);
    inBase(s, 'g', (at) => chmodSync(at, 0o711));
    expect([mode(s, 'g'), changes(s)]).toEqual(['711', []]);
  });

  it.each([[[]], [['g/rest']]])('is in conflict if its mode is changed in the codebase later, with %j', (rest) => {
    const s = made(rest);
    commitOnly(s, ['g/s/f']);
    inBase(s, 'g', (at) => chmodSync(at, 0o711));
    expectKept(s);
    expect(changes(s)).toEqual(['!g', ...rest, 'g/s']);
    inBase(s, 'g', (at) => chmodSync(at, 0o700));
    inBase(s, 'g/s', (at) => chmodSync(at, 0o750));
    expect(changes(s)).toEqual(rest);
  });

  it('is in conflict if it is removed from the codebase', () => {
    const s = made();
    commitOnly(s, ['g/s/f']);
    inBase(s, 'g', (at) => rmSync(at, { recursive: true }));
    expectKept(s);
    expect(changes(s)).toEqual(['!g', '!g/s']);
  });

  it.each(['before', 'during', 'after'] as const)('keeps a mode that it gets %s the commit', (when) => {
    for (const [now, left] of [
      [0o711, ['g']],
      [0o755, []],
    ] as const) {
      const s = new Sandbox();
      s.mkdir('g', 0o700);
      s.create('g/f');
      commitOnly(s, ['g/f'], false, { [when]: () => s.set('g', { mode: now }) });
      expect([mode(s, 'g'), changes(s)]).toEqual([bits(now), left]);
      inBase(s, 'g', (at) => chmodSync(at, 0o750));
      expect([mode(s, 'g'), changes(s)]).toEqual(left.length > 0 ? [bits(now), ['!g']] : ['750', []]);
    }
  });

  it.each(['before', 'after'] as const)('has only its new name if it is renamed %s the commit', (when) => {
    const s = made();
    commitOnly(s, ['g/s/f'], false, { [when]: () => s.rename('g', 'k') });
    expect(s.tree()).toEqual({ 'k/': '', 'k/s/': '', 'k/s/f': '' });
    expect([mode(s, 'k'), mode(s, 'k/s')]).toEqual(['700', '750']);
    expect(changes(s)).toEqual(['g', 'g/s', 'g/s/f', 'k', 'k/s', 'k/s/f']);
  });

  it('is removed by the next commit if it is removed during this one', () => {
    const s = made();
    const remove = () => {
      s.unlink('g/s/f');
      s.rmdir('g/s');
      s.rmdir('g');
    };
    commitOnly(s, ['g/s/f'], false, { before: remove });
    expect([s.list(''), changes(s)]).toEqual([[], ['g', 'g/s', 'g/s/f']]);
    commitAll(s);
    expect([s.list(''), changes(s)]).toEqual([[], []]);
  });

  it('keeps its mode at another name, and at its own again', () => {
    const s = made();
    commitOnly(s, ['g/s/f']);
    s.rename('g', 'k');
    expect([mode(s, 'k'), mode(s, 'k/s')]).toEqual(['700', '750']);
    s.rename('k', 'g');
    expectKept(s);
    expect(changes(s)).toEqual(['g', 'g/s']);
  });

  it('follows the codebase if the codebase gives it the same mode', () => {
    const s = new Sandbox();
    s.mkdir('g', 0o755);
    s.create('g/f');
    commitOnly(s, ['g/f']);
    expect(changes(s)).toEqual([]);
    inBase(s, 'g', (at) => chmodSync(at, 0o711));
    expect([mode(s, 'g'), changes(s)]).toEqual(['711', []]);
  });

  it('follows the codebase when it is discarded, or has the codebase’s mode again', () => {
    for (const undo of [
      (s: Sandbox) => s.fs.revert(s.spec.id, [fromText('g')]),
      (s: Sandbox) => void s.set('g', { mode: 0o755 }),
    ]) {
      const s = new Sandbox();
      s.mkdir('g', 0o700);
      s.create('g/f');
      commitOnly(s, ['g/f']);
      s.create('g/t');
      s.fs.revert(s.spec.id, [fromText('g/t')]);
      expect([mode(s, 'g'), changes(s)]).toEqual(['700', ['g']]);
      undo(s);
      expect([mode(s, 'g'), changes(s)]).toEqual(['755', []]);
      inBase(s, 'g', (at) => chmodSync(at, 0o711));
      expect([mode(s, 'g'), changes(s)]).toEqual(['711', []]);
    }
  });

  it('has its mode after a rollback to the state before the commit, or after it', () => {
    for (const when of ['before', 'after']) {
      const s = made();
      const before = s.fs.freeze(s.spec.id).layer;
      commitOnly(s, ['g/s/f']);
      const after = s.fs.freeze(s.spec.id).layer;
      s.fs.revert(s.spec.id, [fromText('g')]);
      expect([mode(s, 'g'), changes(s)]).toEqual(['755', []]);
      s.fs.rollback(s.spec.id, when === 'before' ? before : after);
      expectKept(s);
      expect(changes(s)).toEqual(['g', 'g/s']);
    }
  });
});
