import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostSizes } from './host-sizes.ts';
import { ALL_WRITE, outcome, Sandbox } from './sandbox.ts';

describe('after a restart', () => {
  it('the tree, inode numbers, attributes and times are unchanged', () => {
    const s = new Sandbox({ 'd/a': '1', b: '2', 'e/c': '3' });
    const bases = ['d/a', 'b', 'd', 'e'].map((path) => s.stat(path).ino);
    s.write('d/a', 'changed');
    s.create('new', 'n');
    s.mkdir('d/sub');
    s.symlink('b', 'link');
    s.mkfifo('pipe');
    s.rename('e', 'moved');
    s.set('b', { mode: 0o755, mtime: { sec: 5, nsec: 123456789 }, atime: { sec: -7, nsec: 1 } });
    const paths = ['', 'd/a', 'b', 'd', 'new', 'd/sub', 'link', 'pipe', 'moved', 'moved/c'];
    s.fs.syncAll();
    const before = paths.map((path) => s.stat(path));
    const tree = s.tree();
    s.restart();
    expect(s.tree()).toEqual(tree);
    expect(paths.map((path) => s.stat(path))).toEqual(before);
    expect(['d/a', 'b', 'd', 'moved'].map((path) => s.stat(path).ino)).toEqual(bases);
    expect(s.stat('b').mtime).toEqual({ sec: 5, nsec: 123456789 });
  });

  it('contents and sizes that were written without a sync are kept', () => {
    const s = new Sandbox();
    s.create('a', 'one');
    s.write('a', 'two', 3);
    s.restart();
    expect(s.read('a')).toBe('onetwo');
    expect(s.stat('a').size).toBe(6);
  });

  it('files that were unlinked while open are removed from the disk', () => {
    const s = new Sandbox();
    s.create('a', 'x'.repeat(100));
    s.create('large', 'x'.repeat(100_000));
    s.unlink('a');
    s.unlink('large');
    expect(s.fs.usage('sb_1').bytes).toBe(100_100);
    s.restart();
    expect(s.fs.usage('sb_1')).toEqual({ bytes: 0, files: 1 });
    expect(hostSizes(s)).toEqual({});
  });

  it('inode numbers of new files are not reused', () => {
    const s = new Sandbox();
    s.create('a');
    const { ino } = s.stat('a');
    s.unlink('a');
    s.restart();
    s.create('b');
    expect(s.stat('b').ino).toBeGreaterThan(ino);
  });
});

describe('the journal', () => {
  it('loses at most a torn last line', () => {
    const s = new Sandbox();
    s.create('a', '1');
    s.create('b', '2');
    const journal = join(s.spec.delta, 'journal');
    appendFileSync(journal, '[["new",99,1');
    s.restart();
    expect(s.list('')).toEqual(['a', 'b']);
    s.create('c', '3');
    s.restart();
    expect(s.list('')).toEqual(['a', 'b', 'c']);
  });

  it('results in an earlier state wherever it is truncated', () => {
    const s = new Sandbox({ 'd/x': 'x' });
    const journal = join(s.spec.delta, 'journal');
    const states = [JSON.stringify(s.list(''))];
    for (const change of [() => s.create('a'), () => s.rename('d', 'e'), () => s.unlink('a'), () => s.mkdir('d')]) {
      change();
      states.push(JSON.stringify(s.list('')));
    }
    const text = readFileSync(journal, 'latin1');
    const first = text.indexOf('\n') + 1;
    for (let size = text.length; size >= first; size--) {
      truncateSync(journal, size);
      s.restart();
      expect(states).toContain(JSON.stringify(s.list('')));
    }
  });

  it('with damage before its last line is refused, and not changed', () => {
    const s = new Sandbox();
    s.create('a');
    s.create('b');
    const journal = join(s.spec.delta, 'journal');
    const text = readFileSync(journal, 'latin1');
    const damaged = text.replace('"link"', '"lin');
    writeFileSync(journal, damaged, 'latin1');
    s.restart();
    expect(() => s.list('')).toThrow();
    expect(readFileSync(journal, 'latin1')).toBe(damaged);
  });

  it('with an unknown version is refused', () => {
    const s = new Sandbox();
    mkdirSync(s.spec.delta, { recursive: true });
    writeFileSync(join(s.spec.delta, 'journal'), '["paddock-delta",1,2,3]\n');
    expect(() => s.list('')).toThrow(/version/);
  });

  it('does not grow without limit', () => {
    const s = new Sandbox();
    for (let n = 0; n < 30_000; n++) {
      const { nodeid } = s.create(`some-name-of-ordinary-length-${n}`);
      s.unlink(`some-name-of-ordinary-length-${n}`);
      s.fs.forget(nodeid, 2);
    }
    expect(readFileSync(join(s.spec.delta, 'journal')).length).toBeLessThan(8 << 20);
    s.create('last');
    s.restart();
    expect(s.list('')).toEqual(['last']);
  });
});

describe('copy-up', () => {
  it('leaves no trace if a crash interrupts it', () => {
    const s = new Sandbox({ a: 'base' });
    s.create('other');
    const dir = join(s.spec.delta, 'data/0/0');
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, '900'), 'half a cop');
    s.restart();
    expect(s.read('a')).toBe('base');
    expect(existsSync(join(dir, '900'))).toBe(false);
  });

  it('keeps the times, the mode and the inode number of the file', () => {
    const s = new Sandbox({ 'd/a': 'base' });
    const before = s.stat('d/a');
    const { nodeid } = s.lookup('d/a')!;
    s.set('d/a', { mode: 0o600 });
    const after = s.stat('d/a');
    expect(after).toMatchObject({ ino: before.ino, mtime: before.mtime, mode: 0o100600, size: 4 });
    expect(s.id('d/a')).toBe(nodeid);
    s.restart();
    expect(s.stat('d/a')).toMatchObject({ ino: before.ino, mtime: before.mtime });
  });

  it('for a truncation to nothing copies nothing', () => {
    const s = new Sandbox({ a: 'x'.repeat(1000) }, { maxBytes: 10 });
    s.set('a', { size: 0 });
    expect(s.read('a')).toBe('');
    expect(s.fs.usage('sb_1').bytes).toBe(0);
  });

  it('leaves no base file with the inode number of a changed one', () => {
    const s = new Sandbox({ a: 'base' });
    const { ino } = s.stat('a');
    s.write('a', 'mine');
    expect(s.stat('a').ino).toBe(ino);
  });
});

describe('the quota', () => {
  it('of bytes ends in EDQUOT, includes unlinked open files, and is freed', () => {
    const s = new Sandbox({ base: 'x'.repeat(50) }, { maxBytes: 100 });
    s.create('a', 'x'.repeat(60));
    expect(outcome(() => s.write('a', 'y'.repeat(41), 60))).toBe('EDQUOT');
    expect(outcome(() => s.set('a', { size: 101 }))).toBe('EDQUOT');
    expect(outcome(() => s.write('base', 'z'))).toBe('EDQUOT');
    expect(s.read('base')).toBe('x'.repeat(50));
    expect(outcome(() => s.symlink('t'.repeat(41), 'l'))).toBe('EDQUOT');
    s.set('a', { size: 10 });
    expect(outcome(() => s.write('base', 'z'))).toBe('ok');
    expect(s.fs.usage('sb_1').bytes).toBe(60);
    s.restart();
    expect(s.fs.usage('sb_1').bytes).toBe(60);
  });

  it('does not include just removed files, except those that are still open', () => {
    const s = new Sandbox({}, { maxBytes: 100, maxFiles: 10 });
    for (const name of ['a', 'b']) {
      s.create(name, 'x'.repeat(100));
      s.unlink(name);
    }
    expect(outcome(() => s.create('c', 'x'.repeat(100)))).toBe('EDQUOT');
    s.forgetAll();
    expect(outcome(() => s.write('c', 'x'.repeat(100)))).toBe('ok');
  });

  it('of inodes ends in EDQUOT', () => {
    const s = new Sandbox({}, { maxFiles: 3 });
    s.create('a');
    s.create('b');
    expect(outcome(() => s.create('c'))).toBe('EDQUOT');
    expect(outcome(() => s.mkdir('c'))).toBe('EDQUOT');
    expect(s.list('')).toEqual(['a', 'b']);
  });

  it('is shown by statfs', () => {
    const s = new Sandbox({}, { maxBytes: 1 << 20, maxFiles: 100 });
    s.create('a', 'x'.repeat(8192));
    expect(s.fs.statfs(s.caller, s.id(''))).toMatchObject({
      blocks: 256,
      bfree: 254,
      files: 100,
      ffree: 98,
      bsize: 4096,
    });
  });
});

describe('detach', () => {
  it('lets open files fail, and a new attach finds all changes', () => {
    const s = new Sandbox({ a: '1' });
    s.write('a', 'X');
    const open = s.id('a');
    s.fs.detach('sb_1');
    expect(outcome(() => s.readId(open))).toBe('ESTALE');
    expect(outcome(() => s.list(''))).toBe('EACCES');
    s.fs.attach({ ...s.spec, rules: ALL_WRITE });
    expect(s.read('a')).toBe('X');
    s.fs.forget(open, 1);
    expect(s.id('a')).not.toBe(open);
  });
});

it('a sync does not fail because a frozen layer that nothing needs any more was removed', () => {
  const s = new Sandbox();
  s.create('large', 'x'.repeat(100_000));
  const { layer } = s.fs.freeze('sb_1');
  s.unlink('large');
  s.forgetAll();
  s.create('later', 'later');
  rmSync(join(s.spec.delta, 'data', layer), { recursive: true });
  expect(outcome(() => s.fs.syncAll())).toBe('ok');
});
