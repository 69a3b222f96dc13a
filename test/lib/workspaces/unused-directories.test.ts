import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { plainLine, readLines } from '../../../lib/workspaces/delta/index/journal-lines.ts';
import { ownDirectories } from './own-directories.ts';
import { Sandbox } from './sandbox.ts';
import { settledPaths } from './settled-paths.ts';

/** Returns each change as its path, with `!` for a conflict. */
function changes(s: Sandbox): string[] {
  return s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes.map(({ path, conflict }) => `${conflict ? '!' : ''}${path}`);
}

/** Changes of a path in the codebase by others. */
function inBase(s: Sandbox, path: string, change: (at: string) => void): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  change(join(s.spec.base, path));
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

const isFile = (now: { mode: number } | undefined) => now !== undefined && (now.mode & 0o170000) !== 0o040000;

/** Commits all changes of the sandbox, as the server does; `meanwhile` runs after they were read. */
function commit(s: Sandbox, meanwhile = () => {}): void {
  const all = s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes;
  const own = ownDirectories(s);
  const paths = all.map(({ path }) => path);
  const contents = new Map(all.flatMap(({ path, now }) => (isFile(now) ? [[path, s.read(path)]] : [])));
  meanwhile();
  s.fs.baseChanging('cb_1', paths);
  // Removals come last.
  for (const { path, now } of [...all].sort((a, b) => Number(a.now === undefined) - Number(b.now === undefined))) {
    const directory = ((now?.mode ?? 0) & 0o170000) === 0o040000;
    if (now === undefined) rmSync(join(s.spec.base, path), { recursive: true, force: true });
    else s.putBase(directory ? `${path}/` : path, contents.get(path) ?? '');
    if (now !== undefined && directory) chmodSync(join(s.spec.base, path), now.mode & 0o777);
  }
  const settled = settledPaths(all, own);
  s.fs.rebase(s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: false });
  s.fs.baseChanged('cb_1', paths);
}

/** After each of these the sandbox has no change in the returned directory. */
const OWN: Record<string, (s: Sandbox) => string> = {
  'created and committed': (s) => {
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
  'given another mode and its own mode again': (s) => {
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
    s.fs.revert(s.spec.id, [fromText('b/t')]);
    return 'b';
  },
  'renamed and renamed back': (s) => {
    s.rename('b', 'c');
    s.rename('c', 'b');
    return 'b';
  },
  'renamed and committed': (s) => {
    s.rename('b', 'c');
    commit(s);
    return 'c';
  },
  'given a file that was moved away': (s) => {
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
  'it is removed and recreated': (s, path) => {
    inBase(s, path, (at) => rmSync(at, { recursive: true }));
    inBase(s, path, (at) => mkdirSync(at, { mode: 0o700 }));
    inBase(s, `${path}/new`, (at) => writeFileSync(at, 'new'));
  },
  'it is replaced by another directory': (s, path) =>
    inBase(s, path, (at) => {
      rmSync(at, { recursive: true });
      mkdirSync(at, { mode: 0o750 });
    }),
  'its mode is changed': (s, path) => inBase(s, path, (at) => chmodSync(at, 0o711)),
};

const WHEN: Record<string, (s: Sandbox, theirs: () => void) => void> = {
  'while it is known': (_s, theirs) => theirs(),
  'after the kernel has forgotten it': (s, theirs) => {
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

/** Every pair of an action of the sandbox and one of others, at one time each; each action occurs at every time. */
const CASES = Object.entries(OWN).flatMap(([own, make], row) =>
  Object.entries(THEIRS).map(([theirs, change], column) => {
    const [when, order] = Object.entries(WHEN)[(row + column) % Object.keys(WHEN).length]!;
    return { own, make, theirs, change, when, order };
  }),
);

describe('a directory without changes of the sandbox', () => {
  it.each(CASES)('that was $own leaves no record when $theirs $when', ({ make, change, order }) => {
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

describe('a directory that is removed from the codebase', () => {
  const go = (s: Sandbox, path: string) => inBase(s, path, (at) => rmSync(at, { recursive: true }));

  it('keeps the sandbox’s entries in it, with their parent directories', () => {
    const s = made();
    s.create('b/d/t', '1');
    s.create('b/t', '1');
    s.unlink('b/t');
    s.unlink('b/f');
    go(s, 'b');
    expect(s.tree()).toEqual({ a: 'a', 'b/': '', 'b/d/': '', 'b/d/t': '1' });
    expect(changes(s)).toEqual(['b', 'b/d', 'b/d/t']);
  });

  it('drops the sandbox’s removals in it', () => {
    const s = made();
    s.unlink('b/f');
    s.unlink('b/d/s');
    s.rmdir('b/d');
    go(s, 'b');
    expect(s.tree()).toEqual({ a: 'a' });
    s.fs.baseChanging('cb_1', ['b/f', 'b/d/s'].map(fromText));
    s.putBase('b/f', 'new');
    s.putBase('b/d/s', 'new');
    s.fs.baseChanged('cb_1', ['b/f', 'b/d/s'].map(fromText));
    expect(s.read('b/f')).toBe('new');
    s.write('b/d/s', '1');
    expect(changes(s)).toEqual(['b/d/s']);
  });

  it('is gone from a fork that is opened afterwards, also from one of a fork or of a rollback', () => {
    const s = made();
    mkdirSync(`${s.home}/layers`);
    s.goOn({ ...s.spec, layers: `${s.home}/layers` });
    s.unlink('b/f');
    const { layer } = s.fs.freeze(s.spec.id);
    const fork = (id: string) => ({ ...s.spec, id, delta: `${s.spec.delta}-${id}`, origin: layer });
    s.fs.attach(fork('before'));
    s.fs.usage('before');
    const again = s.fs.freeze('before').layer;
    go(s, 'b');
    s.fs.rollback(s.spec.id, layer);
    s.fs.attach(fork('after'));
    s.fs.attach({ ...fork('later'), origin: again });
    for (const id of [s.spec.id, 'before', 'after', 'later']) {
      const seen = s.fs.changes(id, ROOT_PATH, 1000).changes;
      expect({ id, seen, files: s.fs.usage(id).files }).toEqual({ id, seen: [], files: 1 });
    }
  });

  it('is in conflict if the sandbox changed its mode', () => {
    const s = made();
    s.set('b', { mode: 0o700 });
    inBase(s, 'b', (at) => chmodSync(at, 0o711));
    expect(changes(s)).toEqual(['!b']);
    go(s, 'b');
    expect(changes(s)).toEqual(['!b']);
    s.fs.revert(s.spec.id, [fromText('b')]);
    expect(s.tree()).toEqual({ a: 'a' });
  });

  it('is removed for a program that works in it, which can open a new one by its name', () => {
    const s = made();
    s.create('b/t', '1');
    s.unlink('b/t');
    const id = s.id('b');
    inBase(s, 'b', (at) => chmodSync(at, 0o711));
    expect(s.id('b')).toBe(id);
    expect(s.listId(id).sort()).toEqual(['d', 'f', 'k']);
    go(s, 'b');
    expect(() => s.fs.lookup(s.caller, id, fromText('f'))).not.toThrow(TypeError);
    inBase(s, 'b', (at) => mkdirSync(at));
    expect(s.id('b')).not.toBe(id);
    expect(s.list('b')).toEqual([]);
    s.forgetAll();
    expect(s.fs.freeze(s.spec.id).files).toBeLessThanOrEqual(1);
  });
});

describe('a conflict of directories: a directory that', () => {
  const put = (s: Sandbox, path: string) => {
    s.fs.baseChanging('cb_1', [fromText(path)]);
    s.putBase(path, 'theirs');
    s.fs.baseChanged('cb_1', [fromText(path)]);
  };
  const removeB = (s: Sandbox) => {
    for (const path of ['b/f', 'b/k', 'b/d/s']) s.unlink(path);
    s.rmdir('b/d');
    s.rmdir('b');
  };

  it.each<[what: string, ours: (s: Sandbox) => void, theirs: (s: Sandbox) => void, conflicts: string[]]>([
    ['was added where the sandbox created a file', (s) => s.create('b/n'), (s) => put(s, 'b/n/'), ['b/n']],
    ['was added where the sandbox created a link', (s) => s.symlink('a', 'b/n'), (s) => put(s, 'b/n/'), ['b/n']],
    [
      'came in the place of a file that it changed',
      (s) => s.write('b/f', '1'),
      (s) => {
        inBase(s, 'b/f', (at) => rmSync(at));
        put(s, 'b/f/');
      },
      ['b/f'],
    ],
    ['was added to one that the sandbox removed', removeB, (s) => put(s, 'b/g/'), ['b/g']],
    ['was added with a file to one that the sandbox removed', removeB, (s) => put(s, 'b/g/x'), ['b/g', 'b/g/x']],
    [
      'got another mode and that the sandbox removed',
      removeB,
      (s) => inBase(s, 'b/d', (at) => chmodSync(at, 0o711)),
      ['b/d'],
    ],
    [
      'has another mode and was replaced',
      (s) => {
        removeB(s);
        s.create('b');
      },
      (s) => inBase(s, 'b', (at) => chmodSync(at, 0o711)),
      ['b'],
    ],
    ['is unchanged and that the sandbox removed', removeB, () => undefined, []],
    [
      'is as it was and was replaced',
      (s) => {
        removeB(s);
        s.symlink('a', 'b');
      },
      () => undefined,
      [],
    ],
    ['is unchanged and that the sandbox renamed', (s) => s.rename('b', 'c'), () => undefined, []],
    ['got a subdirectory and that the sandbox renamed', (s) => s.rename('b', 'c'), (s) => put(s, 'b/g/'), []],
    ['both created', (s) => s.mkdir('b/n', 0o700), (s) => put(s, 'b/n/'), []],
  ])('%s', (_what, ours, theirs, conflicts) => {
    const s = made();
    ours(s);
    theirs(s);
    const seen = () => changes(s).filter((path) => path.startsWith('!'));
    expect(seen()).toEqual(conflicts.map((path) => `!${path}`));
    s.restart();
    expect(seen()).toEqual(conflicts.map((path) => `!${path}`));
    s.fs.revert(s.spec.id, [ROOT_PATH]);
    expect(changes(s)).toEqual([]);
  });

  it('was added to one that the sandbox recreated is hidden, and not a change', () => {
    const s = made();
    removeB(s);
    s.mkdir('b');
    put(s, 'b/g/');
    expect(s.list('b')).toEqual([]);
    expect(changes(s)).toEqual(['b/d', 'b/d/s', 'b/f', 'b/k']);
  });

  it('a commit of its removal kept because of a conflict is shown as in the codebase', () => {
    const s = made();
    removeB(s);
    put(s, 'b/d/x');
    const all = s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes;
    const taken = all.filter(({ conflict }) => !conflict);
    for (const path of ['b/f', 'b/k', 'b/d/s']) rmSync(join(s.spec.base, path));
    const settled = settledPaths(taken, []);
    s.fs.rebase(s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: false });
    s.fs.rebase(s.spec, { commit: 'c', stage: 1, paths: [], revertPaths: [fromText('b/d/x')], resumed: false });
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

describe('a new directory that is removed during its commit', () => {
  const made = () => {
    const s = new Sandbox({ a: 'a' });
    s.mkdir('n');
    s.mkdir('n/d');
    s.create('n/d/x', '1');
    return s;
  };

  it('stays removed, which is a change without a conflict', () => {
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

  it('has only its new name if it was renamed', () => {
    const s = made();
    commit(s, () => s.rename('n', 'm'));
    expect([s.list(''), s.read('m/d/x')]).toEqual([['a', 'm'], '1']);
    expect(changes(s)).toEqual(['m', 'm/d', 'm/d/x', 'n', 'n/d', 'n/d/x']);
  });

  it('has the entries of the directory that takes its place', () => {
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

/** Stops the sandbox, and rewrites its journal as a server with version 3 would have. */
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

describe('a directory in a delta of an older server', () => {
  it('keeps the mode that the sandbox gave it', () => {
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
