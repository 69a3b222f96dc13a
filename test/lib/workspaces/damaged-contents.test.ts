import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { Errno } from '../../../lib/linux/errno.ts';
import type { DamageReport } from '../../../lib/workspaces/workspaces.ts';
import { outcome, Sandbox } from './sandbox.ts';

const LARGE = 'l'.repeat(70_000);

function sandbox(): { s: Sandbox; layers: string; reports: DamageReport[] } {
  const reports: DamageReport[] = [];
  const s = new Sandbox({ base: 'base' }, {}, { damaged: (report) => void reports.push(report) });
  const layers = join(s.home, 'layers');
  mkdirSync(layers);
  s.goOn({ ...s.spec, layers });
  return { s, layers, reports };
}

/** Returns the host files of the state, except the base. */
function hostFiles(s: Sandbox): string[] {
  const tops = ['layers', 'delta', 'fork'].filter((top) => existsSync(join(s.home, top)));
  return tops.flatMap((top) => {
    const names = readdirSync(join(s.home, top), { recursive: true, encoding: 'utf8' });
    return names.map((name) => join(s.home, top, name)).filter((path) => statSync(path).isFile());
  });
}

const find = (s: Sandbox, name: string) => hostFiles(s).filter((path) => path.endsWith(name));

/** Flips a bit of a file. Returns the previous contents. */
function flip(path: string, bit: number): Buffer {
  const before = readFileSync(path);
  const bytes = Buffer.from(before);
  const at = bit % (bytes.length * 8);
  bytes[at >> 3]! ^= 1 << (at & 7);
  writeFileSync(path, bytes);
  return before;
}

describe('a slot with damaged contents', () => {
  for (const frozen of [false, true]) {
    it(`is EIO, is reported once with the path, and can be rewritten (frozen: ${frozen})`, () => {
      const { s, reports } = sandbox();
      s.mkdir('d');
      s.create('d/f', 'contents');
      s.create('other', 'other');
      if (frozen) s.fs.freeze(s.spec.id);
      s.fs.detach(s.spec.id);
      flip(find(s, 'slab-4096')[0]!, 5);
      s.restart();
      for (let n = 0; n < 2; n++) expect(outcome(() => s.read('d/f'))).toBe('EIO');
      expect(outcome(() => s.write('d/f', 'X', 3))).toBe('EIO');
      // A write after the end: only a copy into the top layer reads the existing contents.
      expect(outcome(() => s.write('d/f', 'more', 8))).toBe(frozen ? 'EIO' : 'ok');
      expect(s.read('other')).toBe('other');
      expect(reports.map(({ path }) => path)).toEqual(['d/f']);
      expect(reports[0]!.message).toMatch(/do not match their checksum \(layer .*slot 0\)/);
      expect(s.fs.changes(s.spec.id, ROOT_PATH, 10).changes.map(({ path }) => path)).toEqual(['d', 'd/f', 'other']);
      s.set('d/f', { size: 0 });
      s.write('d/f', 'new');
      s.restart();
      expect(s.read('d/f')).toBe('new');
    });
  }

  it('that is missing with its slab, or truncated, never reads as zeros', () => {
    for (const harm of [(path: string) => rmSync(path), (path: string) => truncateSync(path, 3)]) {
      for (const frozen of [false, true]) {
        const { s } = sandbox();
        s.create('f', 'contents');
        if (frozen) s.fs.freeze(s.spec.id);
        s.fs.detach(s.spec.id);
        harm(find(s, 'slab-4096')[0]!);
        s.restart();
        expect(outcome(() => s.read('f'))).toBe('EIO');
      }
    }
  });
});

describe('a data file', () => {
  it('that is missing is EIO, never an empty file, until it is truncated to nothing or removed', () => {
    for (const frozen of [false, true]) {
      const { s, reports } = sandbox();
      s.create('f', LARGE);
      s.create('g', LARGE);
      if (frozen) s.fs.freeze(s.spec.id);
      s.fs.detach(s.spec.id);
      for (const path of hostFiles(s).filter((each) => /\/0\/\d+$/.test(each))) rmSync(path);
      for (let n = 0; n < 2; n++) {
        s.restart();
        expect(outcome(() => s.read('f'))).toBe('EIO');
        expect(outcome(() => s.write('f', 'x'))).toBe('EIO');
        expect(s.stat('f').size).toBe(LARGE.length);
      }
      expect(reports.some(({ path, message }) => path === 'f' && /missing/.test(message))).toBe(true);
      s.set('f', { size: 0 });
      s.write('f', 'new');
      s.unlink('g');
      s.restart();
      expect(s.tree()).toEqual({ base: 'base', f: 'new' });
    }
  });

  it('of a frozen layer that is shorter is EIO', () => {
    const { s } = sandbox();
    s.create('f', LARGE);
    s.fs.freeze(s.spec.id);
    s.fs.detach(s.spec.id);
    truncateSync(hostFiles(s).find((each) => /\/0\/\d+$/.test(each))!, 60_000);
    s.restart();
    expect(outcome(() => s.read('f'))).toBe('EIO');
  });
});

describe('a truncated frozen file', () => {
  it('uses no slot of another file', () => {
    const { s } = sandbox();
    s.create('large', 'x'.repeat(40_000));
    s.fs.freeze(s.spec.id);
    for (let n = 0; n < 12; n++) s.create(`f${n}`, `contents ${n}`);
    s.unlink('f0');
    s.forgetAll();
    s.set('large', { size: 100 });
    expect(s.read('large')).toBe('x'.repeat(100));
    for (let n = 1; n < 12; n++) expect(s.read(`f${n}`)).toBe(`contents ${n}`);
  });
});

describe('an arbitrary flipped bit', () => {
  it('of journals, indexes, marks and slabs results in correct contents or an error, and the rest is served', () => {
    const { s } = sandbox();
    for (let n = 0; n < 6; n++) s.create(`f${n}`, `${n}`.repeat(3000 * n + 10));
    s.symlink('f1', 'link');
    s.mkdir('d');
    s.rename('f2', 'd/f2');
    const { layer } = s.fs.freeze(s.spec.id);
    for (let n = 3; n < 6; n++) s.write(`f${n}`, 'changed', n);
    s.unlink('f0');
    s.unlink('base');
    const expected = s.tree();
    const { spec } = s;
    const fork = { ...spec, id: 'fork', delta: join(s.home, 'fork'), origin: layer };
    s.goOn(fork);
    s.create('forked', 'forked');
    const forked = s.tree();
    s.goOn({ ...spec, id: 'whole', delta: join(s.home, 'whole') });
    s.create('own', 'own');
    s.fs.detach('whole');
    const files = hostFiles(s).filter((path) => statSync(path).size > 0 && !/\.reserve$|\/whole/.test(path));
    const sizes = files.map((path) => [path, statSync(path).size * 8] as const);
    const anyBit = fc.oneof(...sizes.map(([path, bits]) => fc.tuple(fc.constant(path), fc.nat(bits - 1))));
    fc.assert(
      fc.property(anyBit, ([path, bit]) => {
        const before = flip(path, bit);
        for (const [each, tree] of [
          [spec, expected],
          [fork, forked],
        ] as const) {
          s.goOn(each);
          expectRightOrError(s, tree);
        }
        s.goOn({ ...spec, id: 'whole', delta: join(s.home, 'whole') });
        expect(s.read('own')).toBe('own');
        s.fs.detach('whole');
        writeFileSync(path, before);
      }),
      { numRuns: 150 },
    );
    s.goOn(spec);
    expect(s.tree()).toEqual(expected);
  });
});

/** The sandbox shows either all names or none. */
function expectRightOrError(s: Sandbox, tree: Record<string, string>): void {
  if (outcome(() => s.list('')) === 'EIO') return;
  const paths: string[] = [];
  const visit = (path: string) => {
    for (const name of s.list(path)) {
      const at = path === '' ? name : `${path}/${name}`;
      const type = s.stat(at).mode & 0o170000;
      paths.push(type === 0o040000 ? `${at}/` : at);
      if (type === 0o040000) visit(at);
    }
  };
  visit('');
  expect(paths.sort()).toEqual(Object.keys(tree).sort());
  for (const path of paths) {
    if (path.endsWith('/') || tree[path]!.startsWith('-> ')) continue;
    try {
      expect(s.read(path)).toBe(tree[path]);
    } catch (error) {
      if (!(error instanceof Errno)) throw error;
      expect(error.errno).toBe(5);
    }
  }
}
