import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileOperation } from '../../../lib/workspaces/workspace-files.ts';
import { outcome, Sandbox } from './sandbox.ts';

const BASE = { a: 'base-a', 'd/x': 'base-x', 'd/y': 'base-y' };
const LARGE = 'l'.repeat(100_000);

function sandbox(options: object = {}): Sandbox {
  const s = new Sandbox(BASE, options);
  mkdirSync(join(s.home, 'layers'));
  s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
  return s;
}

const freeze = (s: Sandbox) => s.fs.freeze(s.spec.id).layer;
const rollback = (s: Sandbox, layer: string) => s.fs.rollback(s.spec.id, layer);
const journal = (s: Sandbox) => join(s.spec.delta, 'journal');
const layers = (s: Sandbox) => s.spec.layers!;

function fork(s: Sandbox, layer: string, name: string): void {
  s.goOn({ ...s.spec, id: name, delta: join(s.home, name), origin: layer });
}

/** Returns every file of a layer with its contents. */
function contentsOf(s: Sandbox, layer: string): Record<string, string> {
  const names = readdirSync(join(layers(s), layer), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(layers(s), layer, name)).isFile()).sort();
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(layers(s), layer, name), 'latin1')]));
}

describe('a frozen layer', () => {
  it('never changes, whatever its sandbox and its forks do', () => {
    const s = sandbox();
    s.create('small', 'small');
    s.create('large', LARGE);
    s.write('a', 'mine');
    const layer = freeze(s);
    const before = contentsOf(s, layer);
    const work = () => {
      s.write('small', 'other', 1);
      s.write('large', 'other', 50_000);
      s.set('a', { size: 1 });
      s.set('large', { size: 70_000 });
      s.create('new', LARGE);
      s.unlink('small');
      s.write('d/x', 'mine');
      s.rename('large', 'd/large');
      s.set('d/large', { size: 0 });
    };
    const { spec } = s;
    work();
    fork(s, layer, 'f1');
    work();
    s.restart();
    s.goOn(spec);
    rollback(s, layer);
    work();
    expect(contentsOf(s, layer)).toEqual(before);
  });

  it('is reused if nothing has changed since', () => {
    const s = sandbox();
    s.create('f', 'f');
    const layer = freeze(s);
    s.read('f');
    expect(freeze(s)).toBe(layer);
    s.restart();
    expect(freeze(s)).toBe(layer);
    s.write('f', 'g');
    expect(freeze(s)).not.toBe(layer);
  });

  it('of a sandbox without changes can be rolled back to', () => {
    const s = sandbox();
    const layer = freeze(s);
    s.create('f', 'f');
    s.unlink('a');
    rollback(s, layer);
    expect(s.tree()).toEqual({ a: 'base-a', 'd/': '', 'd/x': 'base-x', 'd/y': 'base-y' });
  });

  it('shows no fork an unlinked open file, which can still be written to', () => {
    const s = sandbox();
    const { nodeid } = s.create('f', 'open');
    s.unlink('f');
    const layer = freeze(s);
    s.fs.write(s.caller, nodeid, 4, Buffer.from(' still'), false);
    expect(s.readId(nodeid)).toBe('open still');
    s.create('later', 'later');
    s.restart();
    expect(s.tree()).toMatchObject({ later: 'later' });
    fork(s, layer, 'f1');
    expect(s.exists('f')).toBe(false);
    expect(s.fs.usage('f1')).toEqual({ bytes: 0, files: 1 });
  });

  it('shows its forks nothing of an unfinished upload, which continues and gets its name', () => {
    const s = sandbox();
    s.create('f', 'f');
    const upload = (operation: FileOperation, ...args: unknown[]) => s.fs.files('sb_1', 'owner', operation, args);
    const { spec } = s;
    const usage = s.fs.usage('sb_1');
    const small = upload('stage', Buffer.from('small ')) as number;
    const large = upload('stage', Buffer.from(LARGE)) as number;
    const layer = freeze(s);
    s.create('g', 'g');
    const later = freeze(s);
    const before = contentsOf(s, layer);
    for (const handle of [small, large]) upload('append', handle, Buffer.from('more'));
    upload('place', small, 'small', 0);
    freeze(s);
    upload('place', large, 'large', 0);
    expect(contentsOf(s, layer)).toEqual(before);
    const expected = { small: 'small more', large: `${LARGE}more`, f: 'f', g: 'g' };
    expect(s.tree()).toMatchObject(expected);
    // In memory, and read from the disk.
    for (const name of ['f1', 'f2']) {
      s.fs.attach({ ...spec, id: name, delta: join(s.home, name), origin: layer });
      s.fs.attach({ ...spec, id: `${name}-later`, delta: join(s.home, `${name}-later`), origin: later });
      expect(s.fs.usage(name)).toEqual(usage);
      expect(s.fs.usage(`${name}-later`)).toEqual({ bytes: usage.bytes + 1, files: usage.files + 1 });
      for (const id of [name, `${name}-later`]) s.fs.detach(id);
      s.restart();
    }
    expect(s.tree()).toMatchObject(expected);
  });

  it('counts the same usage for its forks as for its sandbox', () => {
    const s = sandbox({ maxBytes: 150_000, maxFiles: 4 });
    s.create('large', LARGE);
    s.create('small', 'small');
    const used = s.fs.usage(s.spec.id);
    fork(s, freeze(s), 'f1');
    expect(s.fs.usage('f1')).toEqual(used);
    expect(outcome(() => s.create('more', LARGE))).toBe('EDQUOT');
    s.unlink('large');
    s.unlink('more');
    s.forgetAll();
    expect(outcome(() => s.create('more', LARGE))).toBe('ok');
    s.restart();
    expect(s.fs.usage('f1')).toEqual(used);
  });

  it('keeps times, inode numbers, modes and links for its forks', () => {
    const s = sandbox();
    s.create('f', 'f', 0o640);
    s.link('f', 'd/g');
    s.write('a', 'mine');
    s.symlink('f', 'l');
    const stats = () => ['f', 'd/g', 'a', 'd', 'l', 'd/x'].map((path) => ({ ...s.stat(path), atime: undefined }));
    const before = stats();
    fork(s, freeze(s), 'f1');
    expect(stats()).toEqual(before);
    s.unlink('d/g');
    expect(s.stat('f').nlink).toBe(1);
    s.create('n');
    expect(before.map(({ ino }) => ino)).not.toContain(s.stat('n').ino);
  });

  it('can be read after many later freezes', () => {
    const s = sandbox();
    const states: [string, Record<string, string>][] = [];
    for (let round = 0; round < 80; round++) {
      s.create(`f${round}`, `${round}`);
      if (round > 2) s.unlink(`f${round - 2}`);
      states.push([freeze(s), s.tree()]);
    }
    s.restart();
    expect(s.tree()).toEqual(states.at(-1)![1]);
    for (const [layer, tree] of states.filter((_, index) => index % 13 === 0)) {
      rollback(s, layer);
      expect(s.tree()).toEqual(tree);
      s.restart();
      expect(s.tree()).toEqual(tree);
    }
  });

  it('with a damaged index is not reused', () => {
    const s = sandbox();
    s.create('f', 'f');
    s.create('g', 'g');
    const layer = freeze(s);
    const index = join(layers(s), layer, 'index');
    const text = readFileSync(index, 'latin1');
    writeFileSync(index, text.replace('"link"', '"lonk"'), 'latin1');
    s.restart();
    expect(() => s.tree()).toThrow(/index of the frozen layer .* is damaged: line 2 /);
  });
});

describe('a rollback', () => {
  it('updates known nodes to the restored files, and makes the others stale', () => {
    const s = sandbox();
    s.create('f', 'then');
    s.mkdir('m');
    s.create('m/in', 'in');
    const layer = freeze(s);
    const f = s.id('f');
    const a = s.id('a');
    const inside = s.id('m/in');
    s.write('f', 'now!');
    s.write('a', 'mine');
    s.rename('m/in', 'm/out');
    const { nodeid: gone } = s.create('gone', 'gone');
    s.unlink('d/y');
    expect(s.lookup('d/y')).toBeUndefined();
    s.notices.entries.length = 0;
    rollback(s, layer);
    expect(s.readId(f)).toBe('then');
    expect(s.readId(a)).toBe('base-a');
    expect(outcome(() => s.readId(inside))).toBe('ESTALE');
    expect(outcome(() => s.readId(gone))).toBe('ESTALE');
    expect(s.id('f')).toBe(f);
    for (const name of ['d/y', 'm/in']) expect(s.exists(name)).toBe(true);
    const told = s.notices.entries.map((entry) => entry.replace(/^\d+\//, ''));
    expect(told).toEqual(expect.arrayContaining(['y', 'gone', 'in', 'out']));
    s.forgetAll();
  });

  it('tells the kernel of no name that was there before: each costs time for which all sandboxes wait', () => {
    const s = sandbox();
    s.mkdir('m');
    for (const name of ['kept', 'removed']) s.create(`m/${name}`, name);
    const layer = freeze(s);
    s.unlink('m/removed');
    s.create('m/new', 'new');
    s.forgetAll();
    s.id('m');
    s.notices.entries.length = 0;
    rollback(s, layer);
    expect(s.notices.entries.map((entry) => entry.replace(/^\d+\//, ''))).toEqual(['removed']);
    expect(s.exists('m/kept')).toBe(true);
    expect(s.exists('m/new')).toBe(false);
  });

  it('treats a file of another type as another file', () => {
    const s = sandbox();
    const layer = freeze(s);
    const d = s.id('d');
    const x = s.id('d/x');
    for (const name of ['d/x', 'd/y']) s.unlink(name);
    s.rmdir('d');
    s.create('d', 'a file');
    const file = s.id('d');
    rollback(s, layer);
    expect(s.read('d/x')).toBe('base-x');
    expect(outcome(() => s.readId(file))).toBe('ESTALE');
    for (const id of [d, x]) expect(['ESTALE', 'EISDIR', 'ok']).toContain(outcome(() => s.readId(id)));
  });

  it('survives a kill of the server', () => {
    const s = sandbox();
    s.create('f', 'then');
    const layer = freeze(s);
    s.write('f', 'now!');
    s.create('n', LARGE);
    rollback(s, layer);
    const tree = s.tree();
    s.create('on', 'on');
    s.restart();
    expect(s.tree()).toEqual({ ...tree, on: 'on' });
  });
});

describe('layers that only one sandbox needs', () => {
  const compact = (s: Sandbox, of: string[], limit = 3) => {
    for (let calls = 1; ; calls++) {
      const outcome = s.fs.compact(s.spec.id, of, limit);
      if (outcome !== 'more') return { outcome, calls };
    }
  };

  function wasteful(): { s: Sandbox; layer: string } {
    const s = sandbox();
    s.mkdir('m');
    for (let index = 0; index < 8; index++) s.create(`m/f${index}`, `${index}`.repeat(1000 * (index + 1)));
    s.create('large', LARGE);
    s.create('empty');
    s.link('large', 'd/link');
    s.create('waste', 'w');
    s.set('waste', { size: 8 << 20 });
    s.write('waste', 'x'.repeat(1 << 16), (8 << 20) - (1 << 16));
    for (let at = 0; at < 6; at++) s.write('waste', 'y'.repeat(1 << 20), at << 20);
    const layer = freeze(s);
    s.unlink('waste');
    s.forgetAll();
    return { s, layer };
  }

  it('are absorbed, a few contents at a time, if much of them is unused, and can then be removed', () => {
    const { s, layer } = wasteful();
    const tree = s.tree();
    const large = s.id('large');
    s.readId(large);
    const { outcome, calls } = compact(s, [layer]);
    expect(outcome).toBe('done');
    expect(calls).toBeGreaterThan(3);
    rmSync(join(layers(s), layer), { recursive: true });
    s.fs.layersRemoved();
    expect(s.tree()).toEqual(tree);
    s.fs.write(s.caller, large, 10, Buffer.from('own'), false);
    expect(s.read('d/link').slice(8, 15)).toBe('llownll');
    s.restart();
    expect(s.tree()).toMatchObject({ ...tree, large: expect.any(String), 'd/link': expect.any(String) });
    expect(compact(s, [layer]).outcome).toBe('kept');
  });

  it('are kept if little space would be freed', () => {
    const s = sandbox();
    s.create('f', LARGE);
    const layer = freeze(s);
    s.unlink('f');
    expect(compact(s, [layer]).outcome).toBe('kept');
  });

  it('are complete for the next server after a kill during the absorption', () => {
    const { s, layer } = wasteful();
    const tree = s.tree();
    for (let call = 0; call < 3; call++) expect(s.fs.compact(s.spec.id, [layer], 2)).toBe('more');
    s.restart();
    expect(s.tree()).toEqual(tree);
    expect(compact(s, [layer]).outcome).toBe('done');
    rmSync(join(layers(s), layer), { recursive: true });
    s.restart();
    expect(s.tree()).toEqual(tree);
  });

  it('can be frozen during the absorption', () => {
    const { s, layer } = wasteful();
    const tree = s.tree();
    expect(s.fs.compact(s.spec.id, [layer], 4)).toBe('more');
    const second = freeze(s);
    s.write('large', 'changed');
    s.write('m/f1', 'changed');
    fork(s, second, 'f1');
    expect(s.tree()).toEqual(tree);
  });
});

describe('a kill of the server', () => {
  it('before the journal extends the frozen index leaves nothing frozen', () => {
    const s = sandbox();
    s.create('f', 'f');
    const top = JSON.parse(readFileSync(journal(s), 'latin1').split('\n')[0]!)[5];
    const index = join(layers(s), top, 'index');
    linkSync(journal(s), index);
    writeFileSync(`${journal(s)}.new`, '["half');
    s.restart();
    s.write('f', 'on');
    expect(existsSync(index)).toBe(false);
    expect(existsSync(`${journal(s)}.new`)).toBe(false);
    expect(freeze(s)).toBe(top);
    s.write('f', 'g');
    rollback(s, top);
    expect(s.read('f')).toBe('on');
  });

  it('before a fork wrote anything, or within its first line, leaves a complete fork', () => {
    const s = sandbox();
    s.create('f', 'f');
    const tree = s.tree();
    fork(s, freeze(s), 'f1');
    s.restart();
    expect(s.tree()).toEqual(tree);
    s.create('g', 'g');
    truncateSync(journal(s), 20);
    // It is written after the first line.
    rmSync(`${journal(s)}.mark`);
    s.restart();
    expect(s.tree()).toEqual(tree);
    s.create('h', 'h');
    s.restart();
    expect(s.tree()).toEqual({ ...tree, h: 'h' });
  });
});
