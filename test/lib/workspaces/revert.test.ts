import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { outcome, Sandbox } from './sandbox.ts';

const BASE = { a: 'a', 'd/x': 'x', 'd/y': 'y', 'd/sub/z': 'z', 'e/f': 'f' };

const discard = (s: Sandbox, ...paths: string[]) => s.fs.revert('sb_1', paths.map(fromText));
const untouched = () => new Sandbox(BASE).tree();
const changed = (s: Sandbox) => s.fs.changes('sb_1', ROOT_PATH, 1000).changes.map(({ path }) => path);

/** Returns the contents of files on the host's disk. */
function dataFiles(s: Sandbox): string[] {
  const data = join(s.spec.delta, 'data');
  return existsSync(data)
    ? readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => /\d+\/\d+\/\d+$/.test(name))
    : [];
}

function work(s: Sandbox): void {
  s.write('a', 'A');
  s.create('new', 'n');
  s.unlink('d/x');
  s.rename('d', 'moved');
  s.create('moved/own', 'o');
  s.mkdir('dir');
  s.create('dir/f', 'f');
  s.link('dir/f', 'linked');
  s.symlink('a', 'link');
  s.set('e', { mode: 0o700 });
}

describe('a discard of all changes', () => {
  it('leaves the codebase’s files and no changes or contents, also after a restart', () => {
    const s = new Sandbox(BASE);
    work(s);
    discard(s, '');
    expect(s.tree()).toEqual(untouched());
    expect(changed(s)).toEqual([]);
    s.restart();
    expect(s.tree()).toEqual(untouched());
    expect(changed(s)).toEqual([]);
    s.restart();
    s.list('');
    expect(dataFiles(s)).toEqual([]);
  });

  it('frees the quota', () => {
    const s = new Sandbox(BASE);
    work(s);
    s.restart();
    s.id('');
    discard(s, '');
    expect(s.fs.usage('sb_1')).toEqual({ bytes: 0, files: 1 });
  });

  it('does nothing in a sandbox without changes', () => {
    const s = new Sandbox(BASE);
    expect(discard(s, '')).toBe(0);
    expect(s.tree()).toEqual(untouched());
  });
});

describe('a discarded file that is open', () => {
  it('shows the codebase’s version from then on, and can be written again', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'changed');
    const id = s.id('a');
    discard(s, 'a');
    expect(s.readId(id)).toBe('a');
    expect(s.fs.getattr(s.caller, id).size).toBe(1);
    expect(s.notices.inodes).toContain(id);
    s.fs.write(s.caller, id, 0, Buffer.from('B'), false);
    expect(s.read('a')).toBe('B');
  });

  it('keeps its contents if the codebase has no such file, as after an unlink', () => {
    const s = new Sandbox(BASE);
    const id = s.create('new', 'text').nodeid;
    discard(s, 'new');
    expect(s.readId(id)).toBe('text');
    expect(s.exists('new')).toBe(false);
    s.fs.forget(id, 1);
    expect(dataFiles(s)).toEqual([]);
  });

  it('keeps the other of two names', () => {
    const s = new Sandbox(BASE);
    s.create('one', 'text');
    s.link('one', 'two');
    discard(s, 'one');
    expect(s.exists('one')).toBe(false);
    expect(s.read('two')).toBe('text');
    expect(s.stat('two').nlink).toBe(1);
  });
});

describe('a discard of paths', () => {
  it('does not change other paths', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.write('d/x', 'X');
    s.unlink('d/y');
    s.create('d/new', 'n');
    discard(s, 'd/x', 'd/y', 'not/there', 'a/b');
    expect(s.tree()).toEqual({ ...untouched(), a: 'A', 'd/new': 'n' });
    expect(changed(s)).toEqual(['a', 'd/new']);
  });

  it('includes everything below a directory, and keeps the node of a working directory', () => {
    const s = new Sandbox(BASE);
    s.write('d/x', 'X');
    s.create('d/sub/new', 'n');
    const id = s.id('d/sub');
    discard(s, 'd', 'd/x');
    expect(s.tree()).toEqual(untouched());
    expect(s.id('d/sub')).toBe(id);
    expect(s.listId(id)).toEqual(['z']);
  });

  it('restores the entries of a removed directory only with the directory', () => {
    const s = new Sandbox(BASE);
    s.unlink('e/f');
    s.rmdir('e');
    expect(() => discard(s, 'a', 'e/f')).toThrow('paths: "e/f" is inside "e"');
    discard(s, 'e');
    expect(s.tree()).toEqual(untouched());
  });

  it('refuses a path inside a renamed directory and changes nothing', () => {
    const s = new Sandbox(BASE);
    s.write('a', 'A');
    s.rename('d', 'moved');
    s.write('moved/x', 'X');
    const before = s.tree();
    expect(() => discard(s, 'a', 'moved/x')).toThrow('name that directory instead');
    expect(s.tree()).toEqual(before);
    discard(s, 'moved');
    expect(s.exists('moved')).toBe(false);
    discard(s, 'd');
    expect(s.tree()).toEqual({ ...untouched(), a: 'A' });
  });

  it('of one path of an exchange keeps the other, which conflicts only with a later change', () => {
    const s = new Sandbox(BASE);
    s.rename('d', 'moved');
    s.rename('a', 'd');
    s.rename('moved', 'a');
    s.rename('a/sub', 'kept');
    discard(s, 'a');
    const removed = () =>
      s.fs.changes('sb_1', ROOT_PATH, 1000).changes.filter(({ path }) => path === 'd/x' || path === 'd/sub/z');
    expect(removed().map(({ kind, conflict }) => [kind, conflict])).toEqual([
      ['deleted', false],
      ['deleted', false],
    ]);
    s.restart();
    writeFileSync(join(s.spec.base, 'd/x'), 'another version');
    writeFileSync(join(s.spec.base, 'd/sub/z'), 'another version');
    expect(removed().map(({ path, conflict }) => [path, conflict])).toEqual([
      ['d/sub/z', false],
      ['d/x', true],
    ]);
    expect(s.tree()['kept/z']).toBe('another version');
  });

  it('removes a file from a directory that the sandbox created', () => {
    const s = new Sandbox(BASE);
    s.mkdir('dir');
    s.create('dir/f', 'f');
    s.create('dir/g', 'g');
    discard(s, 'dir/f');
    expect(s.list('dir')).toEqual(['g']);
  });

  it('restores a directory in the place of a file, and a file in the place of a directory', () => {
    const s = new Sandbox(BASE);
    s.unlink('e/f');
    s.rmdir('e');
    s.create('e', 'file');
    s.unlink('a');
    s.mkdir('a');
    const id = s.id('a');
    discard(s, 'e', 'a');
    expect(s.tree()).toEqual(untouched());
    expect(outcome(() => s.fs.create(s.caller, id, fromText('x'), 0o644, 0))).toBe('ENOENT');
  });
});

it('succeeds after any operations, and the sandbox continues', () => {
  const names = fc.constantFrom('a', 'd', 'e', 'd/x', 'd/sub', 'd/sub/z', 'e/f', 'n', 'n/m', 'd/n');
  const step = fc.tuple(fc.constantFrom('write', 'create', 'mkdir', 'unlink', 'rmdir', 'rename', 'link'), names, names);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, restart) => {
      const s = new Sandbox(BASE);
      const apply = () => {
        for (const [what, one, two] of steps) {
          outcome(() => {
            if (what === 'rename' || what === 'link') s[what](one, two);
            else if (what === 'write' || what === 'create') s[what](one, two);
            else s[what](one);
          });
        }
      };
      apply();
      const once = s.tree();
      if (restart) s.restart();
      discard(s, '');
      expect(s.tree()).toEqual(untouched());
      expect(changed(s)).toEqual([]);
      apply();
      expect(s.tree()).toEqual(once);
      s.restart();
      expect(s.tree()).toEqual(once);
    }),
    { numRuns: 150 },
  );
});

describe('discarded contents', () => {
  it('of many small files are freed on the disk in parts', () => {
    const s = new Sandbox();
    s.mkdir('d');
    for (let n = 0; n < 600; n++) s.create(`d/f${n}`, 'contents');
    const slabs = (readdirSync(s.spec.delta, { recursive: true }) as string[]).filter((path) =>
      path.endsWith('slab-4096'),
    );
    const size = () => statSync(join(s.spec.delta, slabs[0]!)).size;
    expect(size()).toBeGreaterThan(599 * 4096);
    s.fs.revert('sb_1', [ROOT_PATH]);
    s.forgetAll();
    const sizes = [size()];
    for (let more = true; more; sizes.push(size())) more = s.fs.trim('sb_1');
    expect(sizes.at(-1)).toBe(0);
    for (const [index, now] of sizes.slice(1).entries()) expect(sizes[index]! - now).toBeLessThanOrEqual(1 << 20);
  });
});
