import { chmodSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Sandbox } from './sandbox.ts';

/** Every change in a line: `+ new`, `- gone`, `M contents`, `m mode only`, with where it came from. */
function changes(s: Sandbox, limit = 1000): string[] {
  const all: string[] = [];
  for (let after = '', more = true; more; ) {
    const page = s.fs.changes('sb_1', after, limit);
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
  it('are none in a sandbox that changed nothing', () => {
    const s = new Sandbox(BASE);
    s.read('a');
    expect(changes(s)).toEqual([]);
  });

  it('are what was added, changed and removed', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.create('new', 'n');
    s.mkdir('dir');
    s.symlink('a', 'dir/link');
    s.unlink('d/x');
    expect(changes(s)).toEqual(['M a', '- d/x', '+ dir', '+ dir/link', '+ new']);
  });

  it('are not what was touched, or is the same again', () => {
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

  it('tell a change of mode from one of contents', () => {
    const s = new Sandbox(BASE);
    s.set('a', { mode: 0o755 });
    s.set('d/sub', { mode: 0o700 });
    expect(changes(s)).toEqual(['m a', 'm d/sub']);
    expect(s.fs.changes('sb_1', '', 1).changes[0]).toMatchObject({
      now: { mode: 0o100755, size: 1 },
      base: { mode: 0o100644, size: 1 },
    });
  });

  it('of a renamed file and directory name where they were', () => {
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

  it('see a file in the place of a directory and a directory in the place of a file', () => {
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

  it('of a directory made anew are those to the old one', () => {
    const s = new Sandbox(BASE);
    for (const path of ['d/x', 'd/y', 'd/sub/z']) s.unlink(path);
    s.rmdir('d/sub');
    s.rmdir('d');
    s.mkdir('d');
    s.create('d/x', 'x');
    s.create('d/y', 'new');
    expect(changes(s)).toEqual(['- d/sub', '- d/sub/z', 'M d/y']);
  });

  it('come in byte order of whole paths, whatever the page', () => {
    const s = new Sandbox();
    for (const path of ['a', 'b']) s.mkdir(path);
    for (const path of ['a.txt', 'a-', 'a/x', 'a/y', 'b/x', 'b0', 'é']) s.create(Buffer.from(path).toString('latin1'));
    const whole = changes(s);
    expect(whole).toEqual([...whole].sort());
    expect(whole).toHaveLength(9);
    for (const limit of [1, 2, 3]) expect(changes(s, limit)).toEqual(whole);
  });

  it('outlive the server', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.rename('d/x', 'd/w');
    const before = changes(s);
    s.restart();
    expect(changes(s)).toEqual(before);
    expect(before).toEqual(['M a', '+ d/w from d/x', '- d/x']);
  });

  it('follow the base where it came to be the same', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.putBase('a', 'A');
    utimesSync(join(s.spec.base, 'a'), 1, 1);
    expect(changes(s)).toEqual([]);
    chmodSync(join(s.spec.base, 'a'), 0o755);
    expect(changes(s)).toEqual(['m a']);
  });
});
