import { describe, expect, it } from 'vitest';
import { outcome, Sandbox } from './sandbox.ts';

describe('base and delta merged', () => {
  it('shows the base until it is changed', () => {
    const s = new Sandbox({ 'a.txt': 'base', 'd/b.txt': 'b' });
    expect(s.tree()).toEqual({ 'a.txt': 'base', 'd/': '', 'd/b.txt': 'b' });
  });

  it('writes to its own copy and leaves the base alone', () => {
    const s = new Sandbox({ 'a.txt': 'base' });
    const other = new Sandbox({}, { base: s.spec.base, id: 'sb_2' });
    s.write('a.txt', 'BA');
    expect(s.read('a.txt')).toBe('BAse');
    expect(other.read('a.txt')).toBe('base');
  });

  it('hides a removed base file, also after a restart', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/b': '2' });
    s.unlink('d/a');
    expect(s.exists('d/a')).toBe(false);
    s.restart();
    expect(s.list('d')).toEqual(['b']);
  });

  it('makes a directory anew where a base directory was removed: nothing of the old shows', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.unlink('d/a');
    s.rmdir('d');
    s.mkdir('d');
    expect(s.list('d')).toEqual([]);
    s.restart();
    expect(s.list('d')).toEqual([]);
  });

  it('makes another type where a base directory was removed', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.unlink('d/a');
    s.rmdir('d');
    s.symlink('x', 'd');
    expect(s.tree()).toEqual({ d: '-> x' });
  });

  it('takes names that look like whiteout marks for ordinary files', () => {
    const s = new Sandbox({ a: '1' });
    for (const name of ['.wh.a', '.wh..wh..opq', 'journal', 'data']) s.create(name, name);
    expect(s.list('')).toEqual(['.wh..wh..opq', '.wh.a', 'a', 'data', 'journal']);
  });

  it('keeps names that are not UTF-8 byte for byte', () => {
    const s = new Sandbox();
    s.create('a\xff\xc3\n"', 'x');
    s.restart();
    expect(s.list('')).toEqual(['a\xff\xc3\n"']);
    expect(s.read('a\xff\xc3\n"')).toBe('x');
  });

  it('refuses names over 255 bytes and targets over 4095', () => {
    const s = new Sandbox();
    expect(outcome(() => s.create('x'.repeat(255)))).toBe('ok');
    expect(outcome(() => s.create('x'.repeat(256)))).toBe('ENAMETOOLONG');
    expect(outcome(() => s.lookup('x'.repeat(256)))).toBe('ENAMETOOLONG');
    expect(outcome(() => s.symlink('x'.repeat(4095), 'l'))).toBe('ok');
    expect(outcome(() => s.symlink('x'.repeat(4096), 'm'))).toBe('ENAMETOOLONG');
  });
});

describe('rename', () => {
  it('moves a base directory with everything in it, and it stays moved', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/e/b': '2' });
    s.write('d/e/b', 'X');
    s.rename('d', 'n');
    const after = { 'n/': '', 'n/a': '1', 'n/e/': '', 'n/e/b': 'X' };
    expect(s.tree()).toEqual(after);
    s.restart();
    expect(s.tree()).toEqual(after);
  });

  it('moves a directory twice and into another moved one', () => {
    const s = new Sandbox({ 'd/a': '1', 'f/b': '2' });
    s.rename('d', 'n');
    s.rename('f', 'n/f');
    s.rename('n', 'm');
    s.write('m/a', '9');
    s.restart();
    expect(s.tree()).toEqual({ 'm/': '', 'm/a': '9', 'm/f/': '', 'm/f/b': '2' });
  });

  it('puts something new where a moved directory was', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.rename('d', 'n');
    s.mkdir('d');
    s.create('d/z', 'z');
    s.restart();
    expect(s.tree()).toEqual({ 'd/': '', 'd/z': 'z', 'n/': '', 'n/a': '1' });
  });

  it('replaces files and empty directories, not full ones', () => {
    const s = new Sandbox({ a: '1', b: '2', 'd/x': '3', 'e/': '', 'f/y': '4' });
    s.rename('a', 'b');
    expect(s.read('b')).toBe('1');
    s.rename('d', 'e');
    expect(s.list('e')).toEqual(['x']);
    expect(outcome(() => s.rename('e', 'f'))).toBe('ENOTEMPTY');
    expect(outcome(() => s.rename('b', 'f'))).toBe('EISDIR');
    expect(outcome(() => s.rename('f', 'b'))).toBe('ENOTDIR');
    expect(outcome(() => s.rename('f', 'f/g'))).toBe('EINVAL');
    expect(outcome(() => s.rename('nope', 'g'))).toBe('ENOENT');
  });

  it('does RENAME_NOREPLACE and RENAME_EXCHANGE, and refuses other flags', () => {
    const s = new Sandbox({ a: '1', 'd/x': '2' });
    expect(outcome(() => s.rename('a', 'd', 1))).toBe('EEXIST');
    expect(outcome(() => s.rename('a', 'c', 2))).toBe('ENOENT');
    expect(outcome(() => s.rename('a', 'c', 4))).toBe('EINVAL');
    s.rename('a', 'd', 2);
    expect(s.tree()).toEqual({ 'a/': '', 'a/x': '2', d: '1' });
    s.restart();
    expect(s.tree()).toEqual({ 'a/': '', 'a/x': '2', d: '1' });
  });

  it('keeps nodes: an open file and a working directory go with their names', () => {
    const s = new Sandbox({ 'd/a': '1' });
    const file = s.id('d/a');
    const dir = s.id('d');
    s.rename('d', 'n');
    expect(s.id('n')).toBe(dir);
    expect(s.id('n/a')).toBe(file);
    s.fs.create(s.caller, dir, 'new', 0o644, 0);
    expect(s.list('n')).toEqual(['a', 'new']);
  });

  it('over an open file leaves the old contents to who has it open', () => {
    const s = new Sandbox({ a: 'old', b: 'new' });
    const open = s.id('a');
    s.rename('b', 'a');
    expect(s.readId(open)).toBe('old');
    expect(s.read('a')).toBe('new');
    expect(s.fs.getattr(s.caller, open).nlink).toBe(0);
  });
});

describe('hard links', () => {
  it('are one file: contents, attributes and count', () => {
    const s = new Sandbox({ a: '1' });
    s.link('a', 'b');
    s.write('b', 'X');
    expect(s.read('a')).toBe('X');
    expect(s.id('a')).toBe(s.id('b'));
    expect(s.stat('a').nlink).toBe(2);
    s.unlink('a');
    expect(s.stat('b').nlink).toBe(1);
    s.restart();
    expect(s.read('b')).toBe('X');
  });

  it('rename of one name over the other does nothing', () => {
    const s = new Sandbox({ a: '1' });
    s.link('a', 'b');
    s.rename('a', 'b');
    expect(s.list('')).toEqual(['a', 'b']);
  });
});

describe('unlinked and open', () => {
  it('a file lives until it is forgotten: read, write, truncate, count 0', () => {
    const s = new Sandbox({ a: 'base' });
    const { nodeid } = s.lookup('a')!;
    s.unlink('a');
    s.fs.write(s.caller, nodeid, 4, Buffer.from('+'), false);
    expect(s.readId(nodeid)).toBe('base+');
    expect(s.fs.setattr(s.caller, nodeid, { size: 2 })).toMatchObject({ size: 2, nlink: 0 });
    expect(s.fs.usage('sb_1').bytes).toBe(2);
    s.fs.forget(nodeid, 2);
    expect(s.fs.usage('sb_1').bytes).toBe(0);
    expect(outcome(() => s.readId(nodeid))).toBe('ESTALE');
  });

  it('a removed directory takes nothing new', () => {
    const s = new Sandbox({ 'd/': '' });
    const dir = s.id('d');
    s.rmdir('d');
    expect(outcome(() => s.fs.create(s.caller, dir, 'x', 0o644, 0))).toBe('ENOENT');
    expect(s.listId(dir)).toEqual([]);
  });
});

describe('listing', () => {
  it('goes on from a cookie while entries are removed and made', () => {
    const names = Array.from({ length: 1000 }, (_, n) => `f${n}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, ''])));
    const dir = s.id('');
    const seen: string[] = [];
    let cookie = 0;
    for (let done = false; !done; ) {
      done = true;
      let left = 7;
      s.fs.readdir(s.caller, dir, cookie, true, (name, next) => {
        if (left-- === 0) {
          done = false;
          return false;
        }
        seen.push(name);
        cookie = next;
        return true;
      });
      for (const name of seen.splice(0)) if (names.includes(name)) s.unlink(name);
    }
    expect(s.list('')).toEqual([]);
  });

  it('counts a lookup for each entry it gave with attributes, and none for the one that did not fit', () => {
    const s = new Sandbox({ a: '', b: '' });
    const taken: number[] = [];
    s.fs.readdir(s.caller, s.id(''), 2, true, (_name, _cookie, _ino, _type, entry) => {
      if (taken.length === 1) return false;
      taken.push(entry!.nodeid);
      return true;
    });
    s.fs.forget(taken[0]!, 1);
    expect(outcome(() => s.fs.getattr(s.caller, taken[0]!))).toBe('ESTALE');
    expect(outcome(() => s.fs.getattr(s.caller, taken[0]! + 1))).toBe('ESTALE');
  });
});
