import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { Sandbox } from './sandbox.ts';

const EVERYTHING = { paths: [ROOT_PATH], exclude: [], scratch: false };
const KIB = 1024;

const listed = (s: Sandbox, withContents = true) =>
  s.fs.changes('sb_1', ROOT_PATH, 10_000, { selection: EVERYTHING, withLeft: true, withContents }).changes;
const contentsOf = (s: Sandbox) =>
  Object.fromEntries(listed(s).map(({ path, contents }) => [path, contents && Buffer.from(contents).toString()]));

describe('contents that come with the changes', () => {
  it('are those of small files whose contents differ from the base', () => {
    const s = new Sandbox({ same: 'abc', other: 'abc', longer: 'abc', mode: 'abc', gone: 'abc' });
    s.write('same', 'xyz');
    s.write('same', 'abc');
    s.write('other', 'xyz');
    s.write('longer', 'abcdef');
    s.set('mode', { mode: 0o700 });
    s.unlink('gone');
    s.create('new', 'n');
    s.create('large', 'l'.repeat(200 * KIB));
    s.symlink('target', 'link');
    s.mkdir('d');
    expect(contentsOf(s)).toEqual({
      other: 'xyz',
      longer: 'abcdef',
      new: 'n',
      mode: undefined,
      gone: undefined,
      large: undefined,
      link: undefined,
      d: undefined,
    });
  });

  it.each([
    ['a symbolic link', (path: string) => symlinkSync('elsewhere', path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['nothing', () => {}],
  ])('do not depend on the type that the base has there now: %s', (_, replace) => {
    const s = new Sandbox({ f: 'abc' });
    s.write('f', 'xyz');
    const path = join(s.spec.base, 'f');
    rmSync(path);
    replace(path);
    expect(listed(s).map(({ contents: _contents, ...change }) => change)).toEqual(listed(s, false));
    expect(listed(s)[0]).toMatchObject({ contents: Buffer.from('xyz'), conflict: true });
  });

  it('are at most 4 MiB of one listing', () => {
    const s = new Sandbox({});
    for (let n = 0; n < 100; n++) s.create(`f${n}`, 'x'.repeat(60 * KIB));
    const bytes = listed(s).reduce((sum, { contents }) => sum + (contents?.length ?? 0), 0);
    expect(bytes).toBeGreaterThan(3.9 * KIB * KIB);
    expect(bytes).toBeLessThanOrEqual(4 * KIB * KIB);
  });
});
