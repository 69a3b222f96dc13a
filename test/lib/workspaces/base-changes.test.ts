import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import type { AttachedWorkspaces } from '../../../lib/workspaces/attached-workspaces.ts';
import type { Workspace } from '../../../lib/workspaces/workspace.ts';
import { outcome, Sandbox } from './sandbox.ts';

function workspaceOf({ fs, workspaceId }: Sandbox): Workspace {
  const { workspaces } = fs as unknown as { workspaces: AttachedWorkspaces };
  return workspaces.find(workspaceId)!;
}

/** Uploads a file as the codebases do: the new file takes the name atomically. */
function upload(s: Sandbox, path: string, content: string): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  replace(s, path, content);
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

function replace(s: Sandbox, path: string, content: string): void {
  const at = join(s.spec.base, path);
  mkdirSync(join(at, '..'), { recursive: true });
  writeFileSync(join(s.home, 'upload'), content);
  renameSync(join(s.home, 'upload'), at);
}

function removal(s: Sandbox, path: string): void {
  s.fs.baseChanging('cb_1', [fromText(path)]);
  rmSync(join(s.spec.base, path), { recursive: true });
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

describe('a base file that is replaced', () => {
  it('is visible at once with a new node, and the kernel is notified', () => {
    const s = new Sandbox({ 'd/a': 'old' });
    const [dir, old] = [s.id('d'), s.id('d/a')];
    upload(s, 'd/a', 'newer');
    expect(s.notices.entries).toContain(`${dir}/a`);
    expect(s.notices.inodes).toContain(dir);
    expect(s.read('d/a')).toBe('newer');
    expect(s.id('d/a')).not.toBe(old);
    expect(s.stat('d/a').size).toBe(5);
  });

  it('does not change for a program that has it open, even if it was not read yet', () => {
    const s = new Sandbox({ a: 'old' });
    const open = s.id('a');
    upload(s, 'a', 'newer');
    upload(s, 'a', 'newest');
    expect(s.readId(open)).toBe('old');
    expect(s.read('a')).toBe('newest');
  });

  it('keeps a limited number of descriptors open, however many files are replaced at once', () => {
    const names = Array.from({ length: 1500 }, (_, n) => `d/${String(n).padStart(4, '0')}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, `old ${name}`])));
    const known = names.map((name) => s.id(name));
    const before = readdirSync('/proc/self/fd').length;
    removal(s, 'd');
    expect(readdirSync('/proc/self/fd').length - before).toBeLessThanOrEqual(1024);
    const read = known.map((id) => outcome(() => s.readId(id)));
    expect(read.filter((verdict) => verdict === 'ok')).toHaveLength(1024);
    expect(new Set(read)).toEqual(new Set(['ok', 'ESTALE']));
    expect(s.readId(known[read.indexOf('ok')]!)).toBe(`old ${names[read.indexOf('ok')]}`);
    for (const id of known) s.fs.forget(id, 1);
    expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before);
  });

  it('is examined once, however many paths change, while it is open without a name', () => {
    const names = Array.from({ length: 20 }, (_, n) => `d/${n}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, 'old'])));
    const open = names.map((name) => s.id(name));
    for (const name of names) s.unlink(name);
    const { orphans } = workspaceOf(s).tree;
    expect(orphans.size).toBe(names.length);
    const examined = vi.spyOn(orphans, Symbol.iterator);
    s.fs.baseChanging('cb_1', names.map(fromText));
    expect(examined).toHaveBeenCalledTimes(1);
    for (const name of names) replace(s, name, 'new');
    s.fs.baseChanged('cb_1', names.map(fromText));
    expect(open.map((id) => s.readId(id))).toEqual(names.map(() => 'old'));
  });

  it('keeps its contents without a name when the whole codebase is replaced', () => {
    const s = new Sandbox({ 'd/a': 'old' });
    const open = s.id('d/a');
    s.unlink('d/a');
    s.fs.baseChanging('cb_1', [ROOT_PATH]);
    rmSync(join(s.spec.base, 'd'), { recursive: true });
    s.fs.baseChanged('cb_1', [ROOT_PATH]);
    expect(s.readId(open)).toBe('old');
  });

  it('can be written to by a program that has it open, without changing the new one', () => {
    const s = new Sandbox({ a: 'old' });
    const open = s.id('a');
    upload(s, 'a', 'newer');
    s.fs.write(s.caller, open, 0, Buffer.from('X'), false);
    expect(s.readId(open)).toBe('Xld');
    expect(s.read('a')).toBe('newer');
    s.fs.forget(open, 1);
    expect(s.fs.usage('sb_1')).toEqual({ bytes: 0, files: 0 });
  });

  it('is either the old file or the new one for a concurrent lookup', () => {
    const s = new Sandbox({ a: 'old' });
    s.id('');
    s.fs.baseChanging('cb_1', [fromText('a')]);
    const open = s.id('a');
    replace(s, 'a', 'newer');
    expect(s.readId(open)).toBe('old');
    s.fs.baseChanged('cb_1', [fromText('a')]);
    expect(s.readId(open)).toBe('old');
    expect(s.read('a')).toBe('newer');
  });

  it('outside of the API is an error, never a mix', () => {
    const s = new Sandbox({ a: 'old' });
    const open = s.id('a');
    replace(s, 'a', 'newer');
    expect(outcome(() => s.readId(open))).toBe('ESTALE');
  });

  it('keeps its node if the change was not made', () => {
    const s = new Sandbox({ a: 'old' });
    const open = s.id('a');
    s.fs.baseChanging('cb_1', [fromText('a')]);
    s.fs.baseChanged('cb_1', [fromText('a')]);
    expect(s.id('a')).toBe(open);
  });

  it('is not visible at a path that the sandbox changed or removed itself', () => {
    const s = new Sandbox({ a: 'old', b: 'old' });
    s.write('a', 'MINE');
    s.unlink('b');
    const id = s.id('a');
    upload(s, 'a', 'newer');
    upload(s, 'b', 'newer');
    expect(s.read('a')).toBe('MINE');
    expect(s.id('a')).toBe(id);
    expect(s.exists('b')).toBe(false);
  });
});

describe('added and removed base paths', () => {
  it('show a new file in new directories although the kernel had cached their absence', () => {
    const s = new Sandbox();
    const root = s.id('');
    expect(s.list('')).toEqual([]);
    upload(s, 'x/y/z', 'new');
    expect(s.notices.entries).toContain(`${root}/x`);
    expect(s.notices.inodes).toContain(root);
    expect(s.tree()).toEqual({ 'x/': '', 'x/y/': '', 'x/y/z': 'new' });
  });

  it('cost nothing in a workspace that shows none of the directories with a changed name', () => {
    const s = new Sandbox({ 'd/e/a': 'a' });
    expect(s.list('')).toEqual(['d']);
    const before = structuredClone(s.notices);
    upload(s, 'd/e/new', 'n');
    expect(s.notices).toEqual(before);
    expect(s.read('d/e/new')).toBe('n');
  });

  it('hide a removed file, whose contents open descriptors keep', () => {
    const s = new Sandbox({ 'd/a': 'old' });
    const open = s.id('d/a');
    expect(s.list('d')).toEqual(['a']);
    removal(s, 'd/a');
    expect(s.exists('d/a')).toBe(false);
    expect(s.list('d')).toEqual([]);
    expect(s.readId(open)).toBe('old');
  });

  it('invalidate all entries below a removed directory', () => {
    const s = new Sandbox({ 'd/e/a': 'old' });
    const [dir, open] = [s.id('d/e'), s.id('d/e/a')];
    removal(s, 'd');
    expect(s.tree()).toEqual({});
    expect(s.readId(open)).toBe('old');
    expect(outcome(() => s.fs.lookup(s.caller, dir, fromText('a')))).toBe('ENOENT');
  });

  it('are merged with the sandbox’s changes in their directory', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/b': '2' });
    s.create('d/own', '3');
    expect(s.list('d')).toEqual(['a', 'b', 'own']);
    upload(s, 'd/new', '4');
    removal(s, 'd/a');
    expect(s.tree()).toEqual({ 'd/': '', 'd/b': '2', 'd/new': '4', 'd/own': '3' });
  });

  it('are visible at the new path of a directory that the sandbox moved', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.rename('d', 'n');
    expect(s.list('n')).toEqual(['a']);
    upload(s, 'd/b', '2');
    expect(s.tree()).toEqual({ 'n/': '', 'n/a': '1', 'n/b': '2' });
  });

  it('may replace a directory by a file', () => {
    const s = new Sandbox({ 'd/a': '1' });
    expect(s.read('d/a')).toBe('1');
    s.fs.baseChanging('cb_1', [fromText('d')]);
    rmSync(join(s.spec.base, 'd'), { recursive: true });
    replace(s, 'd', 'file');
    s.fs.baseChanged('cb_1', [fromText('d')]);
    expect(s.tree()).toEqual({ d: 'file' });
  });

  it('never reuse the inode number of a changed file', () => {
    const s = new Sandbox({ a: 'old' });
    s.write('a', 'mine');
    for (let n = 0; n < 20; n++) {
      upload(s, 'a', `new ${n}`);
      upload(s, `b${n}`, `new ${n}`);
    }
    const numbers = s.list('').map((name) => s.stat(name).ino);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe('a storm of uploads against readers', () => {
  it('never shows a mix of old and new contents', () => {
    const version = (n: number) => String(n % 10).repeat(10_000 + n);
    const s = new Sandbox({ a: version(0) });
    const open: { id: number; content: string }[] = [];
    for (let n = 0; n < 200; n++) {
      const id = s.id('a');
      open.push({ id, content: version(n) });
      upload(s, 'a', version(n + 1));
      if (n % 3 === 2) s.fs.forget(open.shift()!.id, 1);
      const some = open[n % open.length]!;
      expect(s.readId(some.id)).toBe(some.content);
    }
  });
});
