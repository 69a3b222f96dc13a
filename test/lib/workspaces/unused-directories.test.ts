import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settledBy } from '../../../lib/sandboxes/changes/commit.ts';
import { plainLine, readLines } from '../../../lib/workspaces/delta/index/journal-lines.ts';
import { Sandbox } from './sandbox.ts';

/** Each change as its path, with `!` when it is a conflict. */
function changes(s: Sandbox): string[] {
  return s.fs.changes(s.spec.id, '', 1000).changes.map(({ path, conflict }) => `${conflict ? '!' : ''}${path}`);
}

/** What others make of a path in the codebase. */
function inBase(s: Sandbox, path: string, change: (at: string) => void): void {
  s.fs.baseChanging('cb_1', [path]);
  change(join(s.spec.base, path));
  s.fs.baseChanged('cb_1', [path]);
}

const isFile = (now: { mode: number } | undefined) => now !== undefined && (now.mode & 0o170000) !== 0o040000;

/** As the server commits all that the sandbox has; `meanwhile`: after it was read. */
function commit(s: Sandbox, meanwhile = () => {}): void {
  const all = s.fs.changes(s.spec.id, '', 1000).changes;
  const own = s.fs.renamed(s.spec.id);
  const paths = all.map(({ path }) => path);
  const contents = new Map(all.flatMap(({ path, now }) => (isFile(now) ? [[path, s.read(path)]] : [])));
  meanwhile();
  s.fs.baseChanging('cb_1', paths);
  // Room is made last.
  for (const { path, now } of [...all].sort((a, b) => Number(a.now === undefined) - Number(b.now === undefined))) {
    const directory = ((now?.mode ?? 0) & 0o170000) === 0o040000;
    if (now === undefined) rmSync(join(s.spec.base, path), { recursive: true, force: true });
    else s.putBase(directory ? `${path}/` : path, contents.get(path) ?? '');
    if (now !== undefined && directory) chmodSync(join(s.spec.base, path), now.mode & 0o777);
  }
  const settled = settledBy(all, own);
  s.fs.settle(s.spec, { commit: 'c', stage: 0, settled, givenUp: [], resumed: false });
  s.fs.baseChanged('cb_1', paths);
}

/** After each the sandbox has nothing of its own in the directory that is answered. */
const OWN: Record<string, (s: Sandbox) => string> = {
  'made and committed': (s) => {
    s.mkdir('n');
    s.create('n/x', '1');
    commit(s);
    return 'n';
  },
  'changed and committed': (s) => {
    s.mkdir('b/n');
    s.write('b/f', '2');
    s.unlink('b/k');
    commit(s);
    return 'b';
  },
  'given a file that was removed': (s) => {
    s.mkdir('b/d/e');
    s.create('b/d/e/t', '1');
    s.unlink('b/d/e/t');
    s.rmdir('b/d/e');
    return 'b';
  },
  'given another mode and its own again': (s) => {
    s.set('b', { mode: 0o700 });
    s.set('b', { mode: 0o755 });
    return 'b';
  },
  'given another mode, which was committed': (s) => {
    s.set('b', { mode: 0o775 });
    commit(s);
    return 'b';
  },
  'given a file that was discarded': (s) => {
    s.create('b/t', '1');
    s.fs.revert(s.spec.id, ['b/t']);
    return 'b';
  },
  'renamed and named as before': (s) => {
    s.rename('b', 'c');
    s.rename('c', 'b');
    return 'b';
  },
  'renamed and committed': (s) => {
    s.rename('b', 'c');
    commit(s);
    return 'c';
  },
  'given a file that went elsewhere': (s) => {
    s.rename('a', 'b/a');
    s.rename('b/a', 'a');
    return 'b';
  },
};

const THEIRS: Record<string, (s: Sandbox, path: string) => void> = {
  'a file takes its place': (s, path) =>
    inBase(s, path, (at) => {
      rmSync(at, { recursive: true });
      writeFileSync(at, 'file');
    }),
  'a link takes its place': (s, path) =>
    inBase(s, path, (at) => {
      rmSync(at, { recursive: true });
      symlinkSync('a', at);
    }),
  'it is removed': (s, path) => inBase(s, path, (at) => rmSync(at, { recursive: true })),
  'it is removed and made anew': (s, path) => {
    inBase(s, path, (at) => rmSync(at, { recursive: true }));
    inBase(s, path, (at) => mkdirSync(at, { mode: 0o700 }));
    inBase(s, `${path}/new`, (at) => writeFileSync(at, 'new'));
  },
  'it is replaced by another': (s, path) =>
    inBase(s, path, (at) => {
      rmSync(at, { recursive: true });
      mkdirSync(at, { mode: 0o750 });
    }),
  'its mode is changed': (s, path) => inBase(s, path, (at) => chmodSync(at, 0o711)),
};

const WHEN: Record<string, (s: Sandbox, theirs: () => void) => void> = {
  'while it is known': (_s, theirs) => theirs(),
  'when the kernel has forgotten it': (s, theirs) => {
    s.forgetAll();
    theirs();
  },
  'after a restart': (s, theirs) => {
    s.restart();
    theirs();
  },
  'after a checkpoint': (s, theirs) => {
    s.fs.freeze(s.spec.id);
    theirs();
  },
  'while the sandbox is stopped': (s, theirs) => {
    s.fs.detach(s.spec.id);
    s.forgetAll();
    theirs();
    s.fs.attach(s.spec);
  },
  'before a rollback': (s, theirs) => {
    const { layer } = s.fs.freeze(s.spec.id);
    s.create('other', '1');
    theirs();
    s.fs.rollback(s.spec.id, layer);
  },
};

function made(): Sandbox {
  const s = new Sandbox({ a: 'a', 'b/f': 'f', 'b/k': 'k', 'b/d/s': 's' });
  chmodSync(join(s.spec.base, 'b'), 0o755);
  return s;
}

/** Every pair of what the sandbox did and what others do, at one time each; with either of them, every time comes. */
const CASES = Object.entries(OWN).flatMap(([own, make], row) =>
  Object.entries(THEIRS).map(([theirs, change], column) => {
    const [when, order] = Object.entries(WHEN)[(row + column) % Object.keys(WHEN).length]!;
    return { own, make, theirs, change, when, order };
  }),
);

describe('of a directory in which the sandbox has nothing of its own', () => {
  it.each(CASES)('nothing is left of one $own when $theirs $when', ({ make, change, order }) => {
    const s = made();
    const path = make(s);
    s.tree();
    order(s, () => change(s, path));
    const other = new Sandbox({}, { base: s.spec.base });
    const all = other.tree();
    expect(changes(s)).toEqual([]);
    expect(s.tree()).toEqual(all);
    if (all[`${path}/`] !== undefined) {
      expect(s.stat(path).mode).toBe(other.stat(path).mode);
      s.create(`${path}/more`, '1');
      expect(changes(s)).toEqual([`${path}/more`]);
      commit(s);
    }
    s.restart();
    expect(changes(s)).toEqual([]);
  });
});

describe('of a directory that goes', () => {
  const go = (s: Sandbox, path: string) => inBase(s, path, (at) => rmSync(at, { recursive: true }));

  it('what the sandbox has in it stays, with the directories on the way', () => {
    const s = made();
    s.create('b/d/t', '1');
    s.create('b/t', '1');
    s.unlink('b/t');
    s.unlink('b/f');
    go(s, 'b');
    expect(s.tree()).toEqual({ a: 'a', 'b/': '', 'b/d/': '', 'b/d/t': '1' });
    expect(changes(s)).toEqual(['b', 'b/d', 'b/d/t']);
  });

  it('what the sandbox removed in it is forgotten', () => {
    const s = made();
    s.unlink('b/f');
    s.unlink('b/d/s');
    s.rmdir('b/d');
    go(s, 'b');
    expect(s.tree()).toEqual({ a: 'a' });
    s.fs.baseChanging('cb_1', ['b/f', 'b/d/s']);
    s.putBase('b/f', 'new');
    s.putBase('b/d/s', 'new');
    s.fs.baseChanged('cb_1', ['b/f', 'b/d/s']);
    expect(s.read('b/f')).toBe('new');
    s.write('b/d/s', '1');
    expect(changes(s)).toEqual(['b/d/s']);
  });

  it('a mode that the sandbox gave it is a change, in conflict with that', () => {
    const s = made();
    s.set('b', { mode: 0o700 });
    inBase(s, 'b', (at) => chmodSync(at, 0o711));
    expect(changes(s)).toEqual(['!b']);
    go(s, 'b');
    expect(changes(s)).toEqual(['!b']);
    s.fs.revert(s.spec.id, ['b']);
    expect(s.tree()).toEqual({ a: 'a' });
  });

  it('a program that works in it finds it removed, and in a new one by its name', () => {
    const s = made();
    s.create('b/t', '1');
    s.unlink('b/t');
    const id = s.id('b');
    inBase(s, 'b', (at) => chmodSync(at, 0o711));
    expect(s.id('b')).toBe(id);
    expect(s.listId(id).sort()).toEqual(['d', 'f', 'k']);
    go(s, 'b');
    expect(() => s.fs.lookup(s.caller, id, 'f')).not.toThrow(TypeError);
    inBase(s, 'b', (at) => mkdirSync(at));
    expect(s.id('b')).not.toBe(id);
    expect(s.list('b')).toEqual([]);
    s.forgetAll();
    expect(s.fs.freeze(s.spec.id).files).toBeLessThanOrEqual(1);
  });
});

describe('a directory that others changed since the sandbox started from it', () => {
  const put = (s: Sandbox, path: string) => {
    s.fs.baseChanging('cb_1', [path]);
    s.putBase(path, 'theirs');
    s.fs.baseChanged('cb_1', [path]);
  };
  const removeB = (s: Sandbox) => {
    for (const path of ['b/f', 'b/k', 'b/d/s']) s.unlink(path);
    s.rmdir('b/d');
    s.rmdir('b');
  };

  it.each<[what: string, ours: (s: Sandbox) => void, theirs: (s: Sandbox) => void, conflicts: string[]]>([
    ['came where it made a file', (s) => s.create('b/n'), (s) => put(s, 'b/n/'), ['b/n']],
    ['came where it made a link', (s) => s.symlink('a', 'b/n'), (s) => put(s, 'b/n/'), ['b/n']],
    [
      'came in the place of a file that it changed',
      (s) => s.write('b/f', '1'),
      (s) => {
        inBase(s, 'b/f', (at) => rmSync(at));
        put(s, 'b/f/');
      },
      ['b/f'],
    ],
    ['came into one that it removed', removeB, (s) => put(s, 'b/g/'), ['b/g']],
    ['came with a file into one that it removed', removeB, (s) => put(s, 'b/g/x'), ['b/g', 'b/g/x']],
    ['has another mode and was removed', removeB, (s) => inBase(s, 'b/d', (at) => chmodSync(at, 0o711)), ['b/d']],
    [
      'has another mode and was replaced',
      (s) => {
        removeB(s);
        s.create('b');
      },
      (s) => inBase(s, 'b', (at) => chmodSync(at, 0o711)),
      ['b'],
    ],
    ['is as it was and was removed', removeB, () => undefined, []],
    [
      'is as it was and was replaced',
      (s) => {
        removeB(s);
        s.symlink('a', 'b');
      },
      () => undefined,
      [],
    ],
    ['is as it was and was renamed', (s) => s.rename('b', 'c'), () => undefined, []],
    ['got another one and was renamed', (s) => s.rename('b', 'c'), (s) => put(s, 'b/g/'), []],
    ['was made by both', (s) => s.mkdir('b/n', 0o700), (s) => put(s, 'b/n/'), []],
  ])('%s', (_what, ours, theirs, conflicts) => {
    const s = made();
    ours(s);
    theirs(s);
    const seen = () => changes(s).filter((path) => path.startsWith('!'));
    expect(seen()).toEqual(conflicts.map((path) => `!${path}`));
    s.restart();
    expect(seen()).toEqual(conflicts.map((path) => `!${path}`));
    s.fs.revert(s.spec.id, ['']);
    expect(changes(s)).toEqual([]);
  });

  it('that came into one which the sandbox made anew is hidden, and is no change', () => {
    const s = made();
    removeB(s);
    s.mkdir('b');
    put(s, 'b/g/');
    expect(s.list('b')).toEqual([]);
    expect(changes(s)).toEqual(['b/d', 'b/d/s', 'b/f', 'b/k']);
  });

  it('starts anew from what the codebase kept of a removal', () => {
    const s = made();
    removeB(s);
    put(s, 'b/d/x');
    const all = s.fs.changes(s.spec.id, '', 1000).changes;
    const taken = all.filter(({ conflict }) => !conflict);
    for (const path of ['b/f', 'b/k', 'b/d/s']) rmSync(join(s.spec.base, path));
    const settled = settledBy(taken, []);
    s.fs.settle(s.spec, { commit: 'c', stage: 0, settled, givenUp: [], resumed: false });
    s.fs.settle(s.spec, { commit: 'c', stage: 1, settled: [], givenUp: ['b/d/x'], resumed: false });
    s.fs.baseChanged(
      'cb_1',
      all.map(({ path }) => path),
    );
    expect([changes(s), s.read('b/d/x')]).toEqual([[], 'theirs']);
    s.write('b/d/x', 'mine');
    s.set('b/d', { mode: 0o700 });
    expect(changes(s)).toEqual(['b/d', 'b/d/x']);
  });
});

describe('a new directory that goes while its commit is under way', () => {
  const made = () => {
    const s = new Sandbox({ a: 'a' });
    s.mkdir('n');
    s.mkdir('n/d');
    s.create('n/d/x', '1');
    return s;
  };

  it('stays removed, and that is a change without a conflict', () => {
    const s = made();
    commit(s, () => {
      s.unlink('n/d/x');
      s.rmdir('n/d');
      s.rmdir('n');
    });
    expect([s.list(''), changes(s)]).toEqual([['a'], ['n', 'n/d', 'n/d/x']]);
    s.restart();
    expect([s.list(''), changes(s)]).toEqual([['a'], ['n', 'n/d', 'n/d/x']]);
    commit(s);
    expect([s.list(''), changes(s)]).toEqual([['a'], []]);
  });

  it('has its other name only', () => {
    const s = made();
    commit(s, () => s.rename('n', 'm'));
    expect([s.list(''), s.read('m/d/x')]).toEqual([['a', 'm'], '1']);
    expect(changes(s)).toEqual(['m', 'm/d', 'm/d/x', 'n', 'n/d', 'n/d/x']);
  });

  it('has what is in the one that takes its place', () => {
    const s = made();
    commit(s, () => {
      s.unlink('n/d/x');
      s.rmdir('n/d');
      s.rmdir('n');
      s.mkdir('n');
      s.create('n/y', '2');
    });
    expect([s.list('n'), changes(s)]).toEqual([['y'], ['n/d', 'n/d/x', 'n/y']]);
  });
});

/** The sandbox is stopped, and its journal is as a server of version 3 would have written it. */
function asOlder(s: Sandbox): void {
  s.fs.detach(s.spec.id);
  s.forgetAll();
  const journal = join(s.spec.delta, 'journal');
  const [header, ...lines] = readLines(readFileSync(journal, 'latin1')).records;
  header![1] = 3;
  const ops = (lines as unknown[][][]).map((line) => line.filter(([kind, , ino]) => kind !== 'seen' || ino !== 0));
  writeFileSync(journal, [header!, ...ops].map(plainLine).join(''), 'latin1');
  rmSync(`${journal}.mark`, { force: true });
}

describe('of a directory in a delta of an older server', () => {
  it('the mode that the sandbox gave it stays its own', () => {
    const s = made();
    s.set('b', { mode: 0o700 });
    s.create('b/d/t', '1');
    asOlder(s);
    s.fs.attach(s.spec);
    expect(changes(s)).toEqual(['b', 'b/d/t']);
    inBase(s, 'b/d', (at) => chmodSync(at, 0o711));
    s.restart();
    expect(changes(s)).toEqual(['b', 'b/d/t']);
    inBase(s, 'b', (at) => chmodSync(at, 0o711));
    expect(changes(s)).toEqual(['!b', 'b/d/t']);
  });
});
