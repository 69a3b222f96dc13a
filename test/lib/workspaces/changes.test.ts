import { chmodSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromLatin1, ROOT_PATH } from '../../../lib/byte-string.ts';
import { Sandbox } from './sandbox.ts';

/** Returns a line for each change: `+ new`, `- removed`, `M contents`, `m mode only`, with the old path of a rename. */
function changes(s: Sandbox, limit = 1000): string[] {
  const all: string[] = [];
  for (let after = '', more = true; more; ) {
    const page = s.fs.changes('sb_1', fromLatin1(after), limit);
    for (const { path, kind, contentChanged, renamedFrom } of page.changes) {
      const mark = kind === 'added' ? '+' : kind === 'deleted' ? '-' : contentChanged ? 'M' : 'm';
      all.push(`${mark} ${path}${renamedFrom === undefined ? '' : ` from ${renamedFrom}`}`);
      after = path;
    }
    more = page.more;
  }
  return all;
}

const BASE = { a: 'a', 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z' };

describe('changes', () => {
  it('are empty for an unchanged sandbox', () => {
    const s = new Sandbox(BASE);
    s.read('a');
    expect(changes(s)).toEqual([]);
  });

  it('include added, modified and removed paths', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.create('new', 'n');
    s.mkdir('dir');
    s.symlink('a', 'dir/link');
    s.unlink('d/x');
    expect(changes(s)).toEqual(['M a', '- d/x', '+ dir', '+ dir/link', '+ new']);
  });

  it('exclude paths that were only touched, or changed back', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.write('a', 'a');
    s.unlink('d/x');
    s.create('d/x', 'x');
    s.set('d/y', { mtime: 'now' });
    s.create('t', 't');
    s.unlink('t');
    expect(changes(s)).toEqual([]);
  });

  it('distinguish a change of the mode from one of the contents', () => {
    const s = new Sandbox(BASE);
    s.set('a', { mode: 0o755 });
    s.set('d/sub', { mode: 0o700 });
    expect(changes(s)).toEqual(['m a', 'm d/sub']);
    expect(s.fs.changes('sb_1', ROOT_PATH, 1).changes[0]).toMatchObject({
      now: { mode: 0o100755, size: 1 },
      base: { mode: 0o100644, size: 1 },
    });
  });

  it('of a renamed file or directory include its old path', () => {
    const s = new Sandbox(BASE);
    s.rename('a', 'b');
    s.rename('d', 'e');
    s.write('e/x', 'X');
    expect(changes(s)).toEqual([
      '- a',
      '+ b from a',
      '- d',
      '- d/sub',
      '- d/sub/z',
      '- d/x',
      '- d/y',
      '+ e from d',
      '+ e/sub from d/sub',
      '+ e/sub/z from d/sub/z',
      '+ e/x from d/x',
      '+ e/y from d/y',
    ]);
  });

  it('of names that are exchanged or taken over include the old paths', () => {
    const s = new Sandbox({ ...BASE, 'e/x': 'xx', b: 'b', c: 'c' });
    const exchange = (a: string, b: string) => {
      s.rename(a, 't');
      s.rename(b, a);
      s.rename('t', b);
    };
    exchange('a', 'd/y');
    exchange('d/sub', 'e');
    s.rename('b', 'c');
    expect(changes(s)).toEqual([
      'M a from d/y',
      '- b',
      'M c from b',
      '+ d/sub/x from e/x',
      '- d/sub/z',
      'M d/y from a',
      '- e/x',
      '+ e/z from d/sub/z',
    ]);
  });

  it('include a file in the place of a directory and a directory in the place of a file', () => {
    const s = new Sandbox(BASE);
    for (const path of ['d/x', 'd/y', 'd/sub/z']) s.unlink(path);
    s.rmdir('d/sub');
    s.rmdir('d');
    s.create('d', 'file');
    s.unlink('a');
    s.mkdir('a');
    s.create('a/f', 'f');
    expect(changes(s)).toEqual(['M a', '+ a/f', 'M d', '- d/sub', '- d/sub/z', '- d/x', '- d/y']);
  });

  it('of a recreated directory are the differences from the old one', () => {
    const s = new Sandbox(BASE);
    for (const path of ['d/x', 'd/y', 'd/sub/z']) s.unlink(path);
    s.rmdir('d/sub');
    s.rmdir('d');
    s.mkdir('d');
    s.create('d/x', 'x');
    s.create('d/y', 'new');
    expect(changes(s)).toEqual(['- d/sub', '- d/sub/z', 'M d/y']);
  });

  it('are in byte order of the complete paths, for any page size', () => {
    const s = new Sandbox();
    for (const path of ['a', 'b']) s.mkdir(path);
    for (const path of ['a.txt', 'a-', 'a/x', 'a/y', 'b/x', 'b0', 'é']) s.create(Buffer.from(path).toString('latin1'));
    const whole = changes(s);
    expect(whole).toEqual([...whole].sort());
    expect(whole).toHaveLength(9);
    for (const limit of [1, 2, 3]) expect(changes(s, limit)).toEqual(whole);
  });

  it('survive a restart of the server', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.rename('d/x', 'd/w');
    const before = changes(s);
    s.restart();
    expect(changes(s)).toEqual(before);
    expect(before).toEqual(['M a', '+ d/w from d/x', '- d/x']);
  });

  it('exclude a path that the base changed to the same state', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.putBase('a', 'A');
    utimesSync(join(s.spec.base, 'a'), 1, 1);
    expect(changes(s)).toEqual([]);
    chmodSync(join(s.spec.base, 'a'), 0o755);
    expect(changes(s)).toEqual(['m a']);
  });
});
