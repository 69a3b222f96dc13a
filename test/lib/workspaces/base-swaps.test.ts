import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { outcome, Sandbox } from './sandbox.ts';

const BASE = { 'p/d/x': 'x', 'p/d/sub/y': 'y', 'p/other': 'o' };
const BELOW = ['p/d', 'p/d/sub', 'p/d/sub/y', 'p/d/x'];

/** Creates a host directory that no sandbox may see, with the same names as in the sandbox's base. */
function hostDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'not-for-sandboxes-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, 'sub'));
  for (const name of ['x', 'sub/y', 'shadow']) writeFileSync(join(dir, name), 'HOST');
  symlinkSync('shadow', join(dir, 'link'));
  return dir;
}

/** Changes the base like a commit of another sandbox. `told` false skips the step that preserves this sandbox's view, as after a crash. */
function commitOfAnother(s: Sandbox, paths: string[], change: () => void, told = true): void {
  if (told) s.fs.preserveRemoved(s.spec, paths.map(fromText));
  s.fs.baseChanging('cb_1', paths.map(fromText));
  change();
  s.fs.baseChanged('cb_1', paths.map(fromText));
}

function replace(s: Sandbox, path: string, put: (at: string) => void): () => void {
  return () => {
    rmSync(join(s.spec.base, path), { recursive: true });
    put(join(s.spec.base, path));
  };
}

const linkTo = (target: string) => (at: string) => symlinkSync(target, at);

/** Returns all contents and names that the sandbox and its owner can read. */
function everything(s: Sandbox): string {
  const changes = s.fs.changes('sb_1', ROOT_PATH, 1000).changes;
  const listed = s.fs.files('sb_1', 'owner', 'list', ['', true, '', 1000]) as { entries: { path: string }[] };
  const read = listed.entries.map(({ path }) => {
    try {
      return (s.fs.files('sb_1', 'owner', 'open', [path, true]) as { data: Uint8Array }).data;
    } catch {
      return '';
    }
  });
  return JSON.stringify([s.tree(), changes, listed]) + read.map(String).join();
}

function expectNothingOfTheHost(s: Sandbox): void {
  const all = everything(s);
  expect(all).not.toContain('HOST');
  expect(all).not.toContain('shadow');
}

describe('a base directory that the sandbox moved or changed and that becomes a symbolic link', () => {
  for (const told of [true, false]) {
    const how = told ? '' : ', unannounced';
    it(`leads nowhere below a renamed parent${how}`, () => {
      const s = new Sandbox(BASE);
      const host = hostDirectory();
      s.rename('p', 'q');
      expect(s.list('q/d')).toEqual(['sub', 'x']);
      commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(host)), told);
      expectNothingOfTheHost(s);
      s.restart();
      expectNothingOfTheHost(s);
    });

    it(`leads nowhere below a directory in which the sandbox made a file${how}`, () => {
      const s = new Sandbox(BASE);
      const host = hostDirectory();
      s.create('p/d/new', 'mine');
      const known = s.id('p/d');
      expect(s.list('p/d')).toEqual(['new', 'sub', 'x']);
      commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(host)), told);
      expect(s.list('p/d')).toEqual(['new']);
      expect(s.listId(known)).toEqual(['new']);
      expect(outcome(() => s.read('p/d/shadow'))).toBe('ENOENT');
      expectNothingOfTheHost(s);
      s.restart();
      expect(s.tree()).toEqual({ 'p/': '', 'p/d/': '', 'p/d/new': 'mine', 'p/other': 'o' });
      expectNothingOfTheHost(s);
    });

    it(`leads nowhere below a renamed directory with a file of the sandbox's own${how}`, () => {
      const s = new Sandbox(BASE);
      const host = hostDirectory();
      s.rename('p', 'q');
      s.create('q/d/sub/new', 'mine');
      commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(host)), told);
      expectNothingOfTheHost(s);
      expect(s.read('q/d/sub/new')).toBe('mine');
      s.restart();
      expectNothingOfTheHost(s);
    });
  }

  it('leads nowhere during the change', () => {
    const s = new Sandbox(BASE);
    const host = hostDirectory();
    s.rename('p', 'q');
    s.create('q/d/new', 'mine');
    s.fs.baseChanging('cb_1', BELOW.map(fromText));
    replace(s, 'p/d', linkTo(host))();
    expectNothingOfTheHost(s);
    expect(s.list('q/d')).toEqual(['new']);
    s.fs.baseChanged('cb_1', BELOW.map(fromText));
    expectNothingOfTheHost(s);
  });

  it('leads nowhere for a sandbox that is rolled back to an earlier state', () => {
    const s = new Sandbox(BASE);
    const host = hostDirectory();
    s.rename('p', 'q');
    s.create('q/d/new', 'mine');
    const { layer } = s.fs.freeze('sb_1');
    s.fs.revert('sb_1', [ROOT_PATH]);
    commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(host)));
    s.fs.rollback('sb_1', layer);
    expect(s.list('q/d')).toEqual(['new']);
    expectNothingOfTheHost(s);
    s.restart();
    expectNothingOfTheHost(s);
  });

  it('leads nowhere for a fork', () => {
    const s = new Sandbox(BASE);
    const host = hostDirectory();
    mkdirSync(join(s.home, 'layers'));
    s.goOn({ ...s.spec, id: 'parent', layers: join(s.home, 'layers') });
    s.rename('p', 'q');
    s.create('q/d/new', 'mine');
    const { layer } = s.fs.freeze('parent');
    commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(host)));
    s.goOn({ ...s.spec, id: 'sb_1', delta: join(s.home, 'fork'), origin: layer });
    expect(s.list('q/d')).toEqual(['new']);
    expectNothingOfTheHost(s);
  });

  it('leads neither to another codebase nor into the mount of the workspaces', () => {
    for (const target of ['../../../other-codebase', '/proc/self/root', '.', '..']) {
      const s = new Sandbox(BASE);
      mkdirSync(join(s.home, 'other-codebase'));
      writeFileSync(join(s.home, 'other-codebase/shadow'), 'HOST');
      s.rename('p', 'q');
      s.create('q/d/new', 'mine');
      commitOfAnother(s, BELOW, replace(s, 'p/d', linkTo(target)));
      expect(s.list('q/d')).toContain('new');
      expect(s.exists('q/d/shadow')).toBe(false);
      expect(s.exists('q/d/etc')).toBe(false);
      expectNothingOfTheHost(s);
    }
  });
});

describe('a renamed directory whose base directory', () => {
  const kept = { 'q/': '', 'q/d/': '', 'q/d/sub/': '', 'q/d/sub/y': 'y', 'q/d/x': 'x', 'q/other': 'o' };

  for (const [what, put] of [
    ['was removed and created again', (at: string) => mkdirSync(at)],
    ['became a file', (at: string) => writeFileSync(at, 'file')],
    ['became a symbolic link', linkTo('/etc')],
  ] as const) {
    it(`${what} keeps its entries and shows none of the new base entry`, () => {
      const s = new Sandbox(BASE);
      s.rename('p', 'q');
      s.list('q/d');
      commitOfAnother(s, BELOW, replace(s, 'p/d', put));
      expect(s.tree()).toMatchObject(kept);
      // A new entry at the old base path is unrelated to the renamed directory.
      commitOfAnother(
        s,
        ['p/d', 'p/d/late'],
        replace(s, 'p/d', (at) => {
          mkdirSync(at);
          writeFileSync(join(at, 'late'), 'late');
        }),
      );
      expect(s.tree()).toEqual(kept);
      expect(outcome(() => s.read('q/d/late'))).toBe('ENOENT');
      s.restart();
      expect(s.tree()).toEqual(kept);
      expect(s.stat('q/d').nlink).toBe(3);
    });
  }

  it('was already removed at the rename shows no later base entry', () => {
    const s = new Sandbox(BASE);
    s.create('p/d/new', 'mine');
    commitOfAnother(s, BELOW, () => rmSync(join(s.spec.base, 'p/d'), { recursive: true }));
    s.rename('p/d', 'q');
    commitOfAnother(s, ['p/d', 'p/d/late'], () => s.putBase('p/d/late', 'late'));
    expect(s.list('q')).toEqual(['new']);
    s.restart();
    expect(s.list('q')).toEqual(['new']);
  });

  it('was replaced shows nothing of the new one, even if the removed entries could not be preserved', () => {
    const s = new Sandbox(BASE, { maxFiles: 3 });
    s.rename('p/d', 'q');
    expect(s.list('q')).toEqual(['sub', 'x']);
    expect(() => s.fs.preserveRemoved(s.spec, BELOW.map(fromText))).toThrow();
    s.fs.baseChanging('cb_1', BELOW.map(fromText));
    replace(s, 'p/d', (at) => {
      mkdirSync(at);
      writeFileSync(join(at, 'late'), 'late');
    })();
    s.fs.baseChanged('cb_1', BELOW.map(fromText));
    expect(s.list('q')).not.toContain('late');
  });
});
