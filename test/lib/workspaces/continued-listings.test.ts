import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { commitPaused } from './commit.ts';
import { outcome, Sandbox } from './sandbox.ts';

/** So many that their order in the base differs from that in which they were made. */
const NAMES = Array.from({ length: 200 }, (_, n) => `n${n}`);
/** Names in one reply. */
const FEW = 9;

/** A program that lists a directory in several requests. */
class Reader {
  readonly names: string[] = [];
  readonly #s: Sandbox;
  readonly #dir: number;
  #cookie = 0;

  constructor(s: Sandbox, path: string) {
    this.#s = s;
    this.#dir = s.id(path);
  }

  /** Reads about so many names, or all that are left. */
  read(count = Number.MAX_SAFE_INTEGER): void {
    for (let got = -1; got !== 0 && this.names.length < count; ) {
      got = 0;
      this.#s.fs.readdir(this.#s.caller, this.#dir, this.#cookie, false, (name, cookie) => {
        if (got === FEW) return false;
        got++;
        this.#cookie = cookie;
        if (!name.startsWith('.')) this.names.push(name);
        return true;
      });
    }
  }
}

/** Each reader has read another part of the directory when `change` happens, once or more often. */
async function expectEachOnce(s: Sandbox, path: string, changes: readonly (() => unknown)[], names = NAMES) {
  const dir = s.id(path);
  const readers = [10, names.length / 2, names.length - 10].map((part) => {
    const reader = new Reader(s, path);
    reader.read(part);
    return reader;
  });
  const another = new Reader(s, path);
  for (const change of changes) {
    await change();
    // Other requests list the directory anew.
    another.read(another.names.length + 20);
    s.listId(dir);
  }
  for (const reader of [...readers, another]) {
    reader.read();
    const found = reader.names.filter((name) => names.includes(name));
    expect(found.sort()).toEqual([...names].sort());
  }
}

function filled(s: Sandbox, path: string): Sandbox {
  s.mkdir(path);
  for (const name of NAMES) s.create(`${path}/${name}`, name);
  return s;
}

const filesIn = (path: string) => Object.fromEntries(NAMES.map((name) => [join(path, name), 'base']));

/** Changes the base, as a commit of another sandbox does. */
function changeBase(s: Sandbox, paths: readonly string[], change: () => void): void {
  s.fs.baseChanging('cb_1', paths.map(fromText));
  change();
  s.fs.baseChanged('cb_1', paths.map(fromText));
}

const arrive = (s: Sandbox, ...paths: string[]) =>
  changeBase(s, paths, () => {
    for (const path of paths) s.putBase(path, 'theirs');
  });

const go = (s: Sandbox, path: string) =>
  changeBase(s, [path], () => rmSync(join(s.spec.base, path), { recursive: true }));

describe('a listing that a program continues has each name once, that was there all the time, after', () => {
  it('a commit of the directory', async () => {
    const s = filled(new Sandbox(), 'd');
    await expectEachOnce(s, 'd', [() => commitPaused(s)]);
    expect(s.list('d')).toHaveLength(NAMES.length);
  });

  it('commits of it and of what changed in it since', async () => {
    const s = filled(new Sandbox(), 'd');
    const changed = () => {
      s.create('d/late');
      s.write('d/n7', 'again');
      s.set('d', { mode: 0o700 });
    };
    const again = () => {
      s.unlink('d/late');
      s.mkdir('d/dir');
      s.set('d', { mode: 0o755 });
    };
    await expectEachOnce(s, 'd', [
      () => commitPaused(s, { before: changed }),
      () => commitPaused(s, { after: again }),
      () => commitPaused(s),
    ]);
    expect(s.list('d')).toEqual([...NAMES, 'dir'].sort());
    expect(s.stat('d').nlink).toBe(3);
  });

  it('a commit of a directory that was renamed, and of one below it', async () => {
    const s = new Sandbox({ ...filesIn('old'), ...filesIn('old/below') });
    s.rename('old', 'new');
    s.create('new/mine');
    s.create('new/below/mine');
    await expectEachOnce(s, 'new', [() => commitPaused(s)]);
    s.rename('new', 'last');
    await expectEachOnce(s, 'last/below', [() => s.rename('last', 'd'), () => commitPaused(s)]);
  });

  it('a commit of changes in a directory of the base', async () => {
    const s = new Sandbox(filesIn('d'));
    s.create('d/mine');
    s.set('d', { mode: 0o700 });
    await expectEachOnce(s, 'd', [() => commitPaused(s, { after: () => s.set('d', { mode: 0o750 }) })]);
  });

  it('a discard of all changes, and of the directory', async () => {
    const s = new Sandbox(filesIn('d'));
    for (const name of NAMES.slice(50)) s.write(`d/${name}`, 'mine');
    s.create('d/mine');
    s.set('d', { mode: 0o700 });
    await expectEachOnce(s, 'd', [
      () => s.fs.revert('sb_1', [ROOT_PATH]),
      () => s.create('d/mine'),
      () => s.fs.revert('sb_1', [fromText('d')]),
    ]);
    expect(s.list('d')).toEqual([...NAMES].sort());
  });

  it('a rollback', async () => {
    const s = new Sandbox(filesIn('d'));
    mkdirSync(join(s.home, 'layers'));
    s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
    for (const name of NAMES) s.create(name, name);
    for (const name of NAMES.slice(100)) s.write(`d/${name}`, 'mine');
    const { layer } = s.fs.freeze('sb_1');
    for (const name of NAMES.slice(0, 100)) s.write(`d/${name}`, 'mine');
    for (const path of ['', 'd']) {
      s.create(join(path, 'late'));
      await expectEachOnce(s, path, [() => s.fs.rollback('sb_1', layer), () => s.fs.rollback('sb_1', layer)]);
      expect(s.exists(join(path, 'late'))).toBe(false);
    }
  });

  it('another sandbox added the directory, changed it and removed it', async () => {
    const s = filled(new Sandbox(), 'd');
    await expectEachOnce(s, 'd', [
      () => arrive(s, 'd/theirs', ...NAMES.slice(50).map((name) => `d/${name}`)),
      () => expect(s.list('d')).toContain('theirs'),
      () => arrive(s, 'd/more'),
      () => go(s, 'd/theirs'),
      () => go(s, 'd'),
    ]);
    expect(s.list('d')).toEqual([...NAMES].sort());
  });

  it('a rename that leaves nothing of the base in the directory', async () => {
    const s = new Sandbox(filesIn('d'));
    for (const name of NAMES) {
      s.unlink(`d/${name}`);
      s.create(`d/${name}`, 'mine');
    }
    const d = s.id('d');
    s.rename('d', 'e');
    expect(s.id('e')).toBe(d);
    await expectEachOnce(s, 'e', [() => s.rename('e', 'd'), () => s.rename('d', 'e')]);
  });
});

describe('a listing that is made anew', () => {
  it('has neither names that went nor the types that they had, and counts directories', async () => {
    const s = filled(new Sandbox(), 'd');
    s.mkdir('d/a');
    s.mkdir('d/b');
    const reader = new Reader(s, 'd');
    reader.read(NAMES.length / 2);
    commitPaused(s);
    // Before it is made.
    s.rmdir('d/a');
    s.create('d/a');
    s.unlink('d/n150');
    s.mkdir('d/n150');
    s.unlink('d/n199');
    expect(s.stat('d').nlink).toBe(4);
    reader.read();
    expect(reader.names).not.toContain('n199');
    expect(s.list('d')).toEqual([...NAMES.slice(0, -1), 'a', 'b'].sort());
  });

  it('counts for the memory once, and is refused when it grows beyond that', () => {
    const s = new Sandbox({}, { maxIndexBytes: 320_000 });
    s.mkdir('d');
    for (const name of NAMES) s.create(`d/${name}`);
    s.list('d');
    s.forgetAll();
    s.id('d');
    for (let round = 0; round < 20; round++) {
      arrive(s, 'd/theirs');
      expect(s.list('d')).toHaveLength(NAMES.length + 1);
      s.forgetAll();
      s.id('d');
      go(s, 'd');
      expect(s.list('d')).toHaveLength(NAMES.length);
    }
    arrive(s, ...Array.from({ length: 4000 }, (_, n) => `d/theirs${n}`));
    expect(outcome(() => s.list('d'))).toBe('EDQUOT');
    go(s, 'd');
    expect(s.list('d')).toHaveLength(NAMES.length);
  });
});
