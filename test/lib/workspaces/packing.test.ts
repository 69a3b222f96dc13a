import { describe, expect, it } from 'vitest';
import type { Packed } from '../../../lib/workspaces/workspace-files.ts';
import { rule, Sandbox } from './sandbox.ts';

const SMALL = 64 * 1024;

function packing(s: Sandbox, actor: 'agent' | 'owner') {
  const page = (after: string, limit: number) => s.fs.files('sb_1', actor, 'pack', ['', after, limit]) as Packed;
  /** All entries in pages of so many; of small files the contents. */
  const all = (limit: number) => {
    const found: Record<string, string | undefined> = {};
    for (let [after, more] = ['', true]; more; ) {
      const packed = page(after, limit);
      for (const { path, at, size } of packed.entries) {
        expect(found).not.toHaveProperty([path]);
        found[path] = at === undefined ? undefined : Buffer.from(packed.data.subarray(at, at + size)).toString();
      }
      ({ last: after, more } = packed);
    }
    return found;
  };
  return { page, all };
}

describe('the entries of an archive', () => {
  it('come with the contents of small files, of the codebase and of the sandbox, in pages of any size', () => {
    const s = new Sandbox({ 'a/base': 'of the codebase', 'a/changed': 'old', large: 'x'.repeat(SMALL + 1), empty: '' });
    s.write('a/changed', 'new');
    s.create('b', 'b');
    s.symlink('b', 'link');
    const files = { 'a/base': 'of the codebase', 'a/changed': 'new', b: 'b', empty: '' };
    const expected = { a: undefined, ...files, large: undefined, link: undefined };
    for (const limit of [1, 2, 256]) expect(packing(s, 'agent').all(limit)).toEqual(expected);
  });

  it('leave out what the agent may not read, also where that is a whole page', () => {
    const base = { 'none/a': 'SECRET', view1: 'SECRET', view2: 'SECRET', view3: '', 'z/kept': 'kept' };
    const s = new Sandbox(base, { rules: [rule('**', 'WRITE'), rule('none/**', 'NONE', 1), rule('view*', 'VIEW', 1)] });
    s.create('z/locked', 'SECRET', 0);
    for (const limit of [1, 2, 256]) {
      const found = packing(s, 'agent').all(limit);
      expect(JSON.stringify(found)).not.toContain('SECRET');
      expect(found).toMatchObject({ 'z/kept': 'kept' });
      expect(Object.keys(found).filter((path) => /view|locked|none\//.test(path))).toEqual([]);
    }
    expect(packing(s, 'owner').all(2)).toMatchObject({ ...base, 'z/locked': 'SECRET' });
  });

  it('come with a bounded number of bytes at once', () => {
    const names = Array.from({ length: 20 }, (_, n) => `f${String(n).padStart(2, '0')}`);
    const s = new Sandbox(Object.fromEntries(names.map((name) => [name, name.repeat(SMALL / 3)])));
    const { entries, data, more } = packing(s, 'owner').page('', 256);
    expect(more).toBe(true);
    expect(entries.length).toBeGreaterThan(1);
    expect(data.buffer.byteLength).toBeLessThanOrEqual(4 * SMALL);
    expect(Object.keys(packing(s, 'owner').all(256))).toEqual(names);
  });
});
