import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import type { PermissionRule } from '../../../lib/contract/messages.ts';
import type { FileStatus } from '../../../lib/workspaces/workspace-files.ts';
import { ALL_WRITE, outcome, rule, Sandbox } from './sandbox.ts';

const WRITE = rule('**', 'WRITE');
const SECRET = [WRITE, rule('a/secret', 'NONE', 1)];
const BASE = { 'a/open': 'open', 'a/sub/x': 'x' };

/** Changes the base like an upload or a commit of another sandbox. */
function upload(s: Sandbox, path: string, content = 'SECRET'): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  mkdirSync(dirname(join(s.spec.base, path)), { recursive: true });
  writeFileSync(join(s.home, 'upload'), content);
  renameSync(join(s.home, 'upload'), join(s.spec.base, path));
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

/** Checks the running server and the next one. */
function setRules(s: Sandbox, rules: PermissionRule[]): void {
  s.fs.setRules('sb_1', rules);
  s.spec = { ...s.spec, rules };
}

function paths(s: Sandbox, actor: 'agent' | 'owner'): Record<string, number> {
  const { entries } = s.fs.files('sb_1', actor, 'list', ['', true, '', 1000]) as { entries: FileStatus[] };
  return Object.fromEntries(entries.map(({ path, level }) => [path, level]));
}

/** Returns the results for a path by each interface: the kernel's requests, the file API, and changes. */
function expectHidden(s: Sandbox, path: string): void {
  const slash = path.lastIndexOf('/');
  const [dir, name] = [path.slice(0, slash), path.slice(slash + 1)];
  expect(s.exists(path)).toBe(false);
  expect(s.list(dir)).not.toContain(name);
  expect(JSON.stringify(s.tree())).not.toContain('SECRET');
  expect(outcome(() => s.create(path))).toBe('EACCES');
  expect(outcome(() => s.unlink(path))).toBe('ENOENT');
  expect(outcome(() => s.rename(path, 'elsewhere'))).toBe('ENOENT');
  expect(outcome(() => s.create('put'))).toBe('ok');
  expect(outcome(() => s.rename('put', path))).toBe('EACCES');
  expect(outcome(() => s.link('put', path))).toBe('EACCES');
  s.unlink('put');
  expect(paths(s, 'agent')).not.toHaveProperty([path]);
  expect(() => s.fs.files('sb_1', 'agent', 'open', [path, true])).toThrow();
  expect(() => s.fs.files('sb_1', 'agent', 'stat', [path])).toThrow();
  const shown = s.fs.changes('sb_1', ROOT_PATH, 1000).changes.filter(({ hidden }) => !hidden);
  expect(shown.map((change) => change.path)).not.toContain(path);
  // No rule applies to the owner.
  expect(paths(s, 'owner')).toHaveProperty([path]);
}

function atEachTime(s: Sandbox, path: string): void {
  expectHidden(s, path);
  s.forgetAll();
  expectHidden(s, path);
  s.restart();
  expectHidden(s, path);
}

describe('a file that the rules hide in a directory that was renamed before', () => {
  it('is hidden at its new path if it is added to the base later', () => {
    const s = new Sandbox(BASE, { rules: SECRET });
    s.rename('a', 'b');
    expect(outcome(() => s.lookup('b/secret')?.nodeid)).toBe('ok');
    upload(s, 'a/secret');
    atEachTime(s, 'b/secret');
    expect(s.read('b/open')).toBe('open');
  });

  it('is hidden if the rules are tightened, also for a kernel that has it cached', () => {
    const s = new Sandbox({ ...BASE, 'a/secret': 'SECRET', 'a/dir/deep': 'SECRET' });
    s.rename('a', 'b');
    const [secret, dir, deep] = [s.id('b/secret'), s.id('b/dir'), s.id('b/dir/deep')];
    expect(s.readId(secret)).toBe('SECRET');
    expect(s.readId(deep)).toBe('SECRET');
    s.notices.inodes.length = 0;
    s.notices.entries.length = 0;
    setRules(s, [...SECRET, rule('a/dir/**', 'NONE', 1)]);
    for (const id of [secret, deep]) expect(outcome(() => s.readId(id))).toBe('EACCES');
    expect(outcome(() => s.fs.getattr(s.caller, secret))).not.toBe('ok');
    expect(s.notices.inodes).toEqual(expect.arrayContaining([secret, deep]));
    expect(s.notices.entries).toContain(`${s.id('b')}/secret`);
    expect(s.notices.entries).toContain(`${s.id('b')}/dir`);
    expect(outcome(() => s.fs.lookup(s.caller, dir, fromText('deep')))).toBe('ENOENT');
    atEachTime(s, 'b/secret');
    atEachTime(s, 'b/dir');
    setRules(s, ALL_WRITE);
    expect(s.read('b/secret')).toBe('SECRET');
    expect(s.read('b/dir/deep')).toBe('SECRET');
  });

  it('is hidden after a rollback brings the rename back', () => {
    const s = new Sandbox(BASE, { rules: SECRET });
    s.rename('a', 'b');
    const { layer } = s.fs.freeze('sb_1');
    s.fs.revert('sb_1', [ROOT_PATH]);
    upload(s, 'a/secret');
    expect(s.exists('a/secret')).toBe(false);
    s.id('a/sub');
    s.fs.rollback('sb_1', layer);
    atEachTime(s, 'b/secret');
  });

  it('is hidden after the directory was renamed again, also inside another one', () => {
    const s = new Sandbox({ ...BASE, 'a/sub/deep/y': 'y' }, { rules: [WRITE, rule('a/sub/deep/secret', 'NONE', 1)] });
    s.rename('a/sub', 'b');
    s.mkdir('c');
    s.rename('b/deep', 'c/d');
    upload(s, 'a/sub/deep/secret');
    atEachTime(s, 'c/d/secret');
    s.rename('c', 'e');
    atEachTime(s, 'e/d/secret');
  });

  it('is hidden in a fork', () => {
    const s = new Sandbox(BASE, { rules: SECRET });
    mkdirSync(join(s.home, 'layers'));
    s.goOn({ ...s.spec, id: 'parent', layers: join(s.home, 'layers') });
    s.rename('a', 'b');
    const { layer } = s.fs.freeze('parent');
    upload(s, 'a/secret');
    s.goOn({ ...s.spec, id: 'sb_1', delta: join(s.home, 'fork'), origin: layer });
    atEachTime(s, 'b/secret');
  });

  it('may be a complete directory, or files that match a pattern', () => {
    const s = new Sandbox(BASE, { rules: [WRITE, rule('a/**/*.key', 'NONE', 1), rule('a/keys/**', 'NONE', 1)] });
    s.rename('a', 'b');
    for (const path of ['a/sub/k.key', 'a/keys/k']) upload(s, path);
    atEachTime(s, 'b/sub/k.key');
    atEachTime(s, 'b/keys');
  });

  it('is not revealed by another name of the same file', () => {
    const s = new Sandbox({ ...BASE, 'a/secret': 'SECRET' });
    s.rename('a', 'b');
    s.link('b/open', 'c');
    setRules(s, [WRITE, rule('a/open', 'NONE', 1), rule('a/secret', 'NONE', 1)]);
    // Already the sandbox's own file, copied while the rules allowed it.
    expect(s.read('c')).toBe('open');
    atEachTime(s, 'b/secret');
  });

  it('does not become the sandbox’s own when the base removes it', () => {
    const s = new Sandbox(BASE, { rules: SECRET });
    s.rename('a', 'b');
    upload(s, 'a/secret');
    s.fs.preserveRemoved(s.spec, [
      fromText('a'),
      fromText('a/open'),
      fromText('a/secret'),
      fromText('a/sub'),
      fromText('a/sub/x'),
    ]);
    rmSync(join(s.spec.base, 'a'), { recursive: true });
    expect(s.read('b/open')).toBe('open');
    expect(s.read('b/sub/x')).toBe('x');
    expect(s.exists('b/secret')).toBe(false);
    expect(outcome(() => s.create('b/secret', 'mine'))).toBe('ok');
    expect(s.read('b/secret')).toBe('mine');
  });

  it('prevents the sandbox from removing or moving its directory, and is kept', () => {
    const s = new Sandbox(BASE, { rules: SECRET });
    s.rename('a', 'b');
    upload(s, 'a/secret');
    expect(outcome(() => s.rename('b', 'c'))).toBe('EACCES');
    s.unlink('b/open');
    s.unlink('b/sub/x');
    s.rmdir('b/sub');
    expect(outcome(() => s.rmdir('b'))).toBe('EACCES');
    expect(() => s.fs.files('sb_1', 'agent', 'remove', ['b', true, false, 100])).toThrow();
    const { changes } = s.fs.changes('sb_1', ROOT_PATH, 100);
    expect(changes.find(({ path }) => path === 'b/secret')).toMatchObject({ writable: false, hidden: true });
    expect(changes.find(({ path }) => path === 'a/secret')).toMatchObject({ writable: false, hidden: true });
  });
});

describe('intermediate levels', () => {
  it('restrict names to VIEW and contents to READ', () => {
    const s = new Sandbox(BASE, { rules: [WRITE, rule('a/view', 'VIEW', 1), rule('a/read', 'READ', 1)] });
    s.rename('a', 'b');
    upload(s, 'a/view');
    upload(s, 'a/read', 'readable');
    for (const again of [false, true]) {
      if (again) s.restart();
      expect(s.list('b')).toEqual(['open', 'read', 'sub', 'view']);
      expect(outcome(() => s.read('b/view'))).toBe('EACCES');
      expect(s.read('b/read')).toBe('readable');
      expect(outcome(() => s.write('b/read', 'x'))).toBe('EACCES');
      expect(outcome(() => s.unlink('b/read'))).toBe('EACCES');
      expect(s.stat('b/read').mode & 0o777).toBe(0o440);
      expect(s.stat('b/view').mode & 0o777).toBe(0);
      expect(paths(s, 'agent')).toMatchObject({ 'b/open': 5, 'b/read': 4, 'b/view': 1 });
    }
  });

  it('are those of the new path if it is stricter', () => {
    const s = new Sandbox(BASE, { rules: [WRITE, rule('b/secret', 'NONE', 1)] });
    s.rename('a', 'b');
    upload(s, 'a/secret');
    atEachTime(s, 'b/secret');
    expect(s.fs.changes('sb_1', ROOT_PATH, 100).changes.find(({ path }) => path === 'b/secret')).toMatchObject({
      writable: false,
    });
  });
});

describe('an entry that the sandbox creates in a renamed directory', () => {
  it('has the level of its path, even below a directory that the rules hide in the base', () => {
    const s = new Sandbox({ ...BASE, 'a/sub/old': 'old' });
    s.rename('a', 'b');
    s.create('b/sub/own', 'own');
    s.create('b/own', 'own');
    setRules(s, [WRITE, rule('a/**', 'NONE', 1)]);
    for (const again of [false, true]) {
      if (again) s.restart();
      expect(s.tree()).toEqual({ 'b/': '', 'b/own': 'own', 'b/sub/': '', 'b/sub/own': 'own' });
      s.write('b/own', 'OWN');
      s.write('b/own', 'own');
    }
  });

  it('is not restricted by the rules of an earlier directory', () => {
    const s = new Sandbox(BASE);
    s.rename('a', 'b');
    s.mkdir('a');
    s.create('a/x', 'mine');
    setRules(s, [WRITE, rule('b/**', 'READ', 1)]);
    s.write('a/x', 'MINE');
    expect(outcome(() => s.write('b/open', 'x'))).toBe('EACCES');
    expect(s.read('b/open')).toBe('open');
  });
});

describe('a recreated directory that is later created in the base too', () => {
  it('hides at each of its paths the entries that the rules hide in the base', () => {
    const s = new Sandbox(BASE, { rules: [WRITE, rule('a/new/secret', 'NONE', 1), rule('late/secret', 'NONE', 1)] });
    s.rename('a', 'b');
    for (const dir of ['b/new', 'late']) {
      s.mkdir(dir);
      s.create(`${dir}/own`, 'own');
    }
    upload(s, 'a/new/secret');
    upload(s, 'late/secret');
    expect(s.list('late')).toEqual(['own']);
    expect(outcome(() => s.rename('late', 'moved'))).toBe('EACCES');
    s.mkdir('deep');
    expect(outcome(() => s.rename('b', 'deep/b'))).toBe('EACCES');
    for (const again of [false, true]) {
      if (again) s.restart();
      expect(s.list('b/new')).toEqual(['own']);
      expect(s.exists('b/new/secret')).toBe(false);
      expect(s.fs.shownFrom('sb_1', fromText('b/new/secret'))).toBe('a/new/secret');
    }
    expect(s.fs.shownFrom('sb_1', fromText('b/new/own'))).toBe(undefined);
    expect(s.fs.shownFrom('sb_1', fromText('b/open'))).toBe('a/open');
    expect(s.fs.shownFrom('sb_1', fromText('none/x'))).toBe('none/x');
  });
});

describe('a directory that the owner moves', () => {
  it('keeps base entries hidden from the sandbox', () => {
    const s = new Sandbox({ ...BASE, 'a/secret': 'SECRET' }, { rules: SECRET });
    s.list('a');
    s.fs.files('sb_1', 'owner', 'move', ['a', 'b', false]);
    atEachTime(s, 'b/secret');
    expect(s.read('b/open')).toBe('open');
  });
});
