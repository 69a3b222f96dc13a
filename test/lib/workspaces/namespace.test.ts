import { describe, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { outcome, Sandbox } from './sandbox.ts';

describe('base and delta merged', () => {
  it('show the base until it is changed', () => {
    const s = new Sandbox({ 'a.txt': 'base', 'd/b.txt': 'b' });
    expect(s.tree()).toEqual({ 'a.txt': 'base', 'd/': '', 'd/b.txt': 'b' });
  });

  it('write to a copy and do not change the base', () => {
    const s = new Sandbox({ 'a.txt': 'base' });
    const other = new Sandbox({}, { base: s.spec.base, id: 'sb_2' });
    s.write('a.txt', 'BA');
    expect(s.read('a.txt')).toBe('BAse');
    expect(other.read('a.txt')).toBe('base');
  });

  it('hide a removed base file, also after a restart', () => {
    const s = new Sandbox({ 'd/a': '1', 'd/b': '2' });
    s.unlink('d/a');
    expect(s.exists('d/a')).toBe(false);
    s.restart();
    expect(s.list('d')).toEqual(['b']);
  });

  it('allow a new directory at the path of a removed base directory, without its old entries', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.unlink('d/a');
    s.rmdir('d');
    s.mkdir('d');
    expect(s.list('d')).toEqual([]);
    s.restart();
    expect(s.list('d')).toEqual([]);
  });

  it('allow another file type at the path of a removed base directory', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.unlink('d/a');
    s.rmdir('d');
    s.symlink('x', 'd');
    expect(s.tree()).toEqual({ d: '-> x' });
  });

  it('treat names that look like whiteouts as ordinary files', () => {
    const s = new Sandbox({ a: '1' });
    for (const name of ['.wh.a', '.wh..wh..opq', 'journal', 'data']) s.create(name, name);
    expect(s.list('')).toEqual(['.wh..wh..opq', '.wh.a', 'a', 'data', 'journal']);
  });

  it('keep names that are not UTF-8 byte for byte', () => {
    const s = new Sandbox();
    s.create('a\xff\xc3\n"', 'x');
    s.restart();
    expect(s.list('')).toEqual(['a\xff\xc3\n"']);
    expect(s.read('a\xff\xc3\n"')).toBe('x');
  });

  it('refuse names above 255 bytes and link targets above 4095 bytes', () => {
    const s = new Sandbox();
    expect(outcome(() => s.create('x'.repeat(255)))).toBe('ok');
    expect(outcome(() => s.create('x'.repeat(256)))).toBe('ENAMETOOLONG');
    expect(outcome(() => s.lookup('x'.repeat(256)))).toBe('ENAMETOOLONG');
    expect(outcome(() => s.symlink('x'.repeat(4095), 'l'))).toBe('ok');
    expect(outcome(() => s.symlink('x'.repeat(4096), 'm'))).toBe('ENAMETOOLONG');
  });
});

describe('rename', () => {
  it('moves a base directory with all entries, permanently', () => {
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

  it('allows a new entry at the old path of a directory', () => {
    const s = new Sandbox({ 'd/a': '1' });
    s.rename('d', 'n');
    s.mkdir('d');
    s.create('d/z', 'z');
    s.restart();
    expect(s.tree()).toEqual({ 'd/': '', 'd/z': 'z', 'n/': '', 'n/a': '1' });
  });

  it('replaces files and empty directories, but no other directories', () => {
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

  it('supports RENAME_NOREPLACE and RENAME_EXCHANGE, and refuses other flags', () => {
    const s = new Sandbox({ a: '1', 'd/x': '2' });
    expect(outcome(() => s.rename('a', 'd', 1))).toBe('EEXIST');
    expect(outcome(() => s.rename('a', 'c', 2))).toBe('ENOENT');
    expect(outcome(() => s.rename('a', 'c', 4))).toBe('EINVAL');
    s.rename('a', 'd', 2);
    expect(s.tree()).toEqual({ 'a/': '', 'a/x': '2', d: '1' });
    s.restart();
    expect(s.tree()).toEqual({ 'a/': '', 'a/x': '2', d: '1' });
  });

  it('keeps nodes, so that open files and working directories follow their names', () => {
    const s = new Sandbox({ 'd/a': '1' });
    const file = s.id('d/a');
    const dir = s.id('d');
    s.rename('d', 'n');
    expect(s.id('n')).toBe(dir);
    expect(s.id('n/a')).toBe(file);
    s.fs.create(s.caller, dir, fromText('new'), 0o644, 0);
    expect(s.list('n')).toEqual(['a', 'new']);
  });

  it('over an open file keeps the old contents for open descriptors', () => {
    const s = new Sandbox({ a: 'old', b: 'new' });
    const open = s.id('a');
    s.rename('b', 'a');
    expect(s.readId(open)).toBe('old');
    expect(s.read('a')).toBe('new');
    expect(s.fs.getattr(s.caller, open).nlink).toBe(0);
  });
});

describe('hard links', () => {
  it('are one file with common contents, attributes and link count', () => {
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

  it('are not changed by a rename of one over the other', () => {
    const s = new Sandbox({ a: '1' });
    s.link('a', 'b');
    s.rename('a', 'b');
    expect(s.list('')).toEqual(['a', 'b']);
  });
});

describe('an unlinked open entry', () => {
  it('that is a file can be read, written and truncated until it is forgotten, with link count 0', () => {
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

  it('that is a directory refuses new entries', () => {
    const s = new Sandbox({ 'd/': '' });
    const dir = s.id('d');
    s.rmdir('d');
    expect(outcome(() => s.fs.create(s.caller, dir, fromText('x'), 0o644, 0))).toBe('ENOENT');
    expect(s.listId(dir)).toEqual([]);
  });
});

describe('a listing', () => {
  it('continues from a cookie while entries are removed and created', () => {
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

  it('counts a lookup for each entry that it returned with attributes, and none for the one that did not fit', () => {
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
