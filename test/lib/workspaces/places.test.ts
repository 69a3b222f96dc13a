import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { Postponed } from '../../../lib/fuse/filesystem.ts';
import type { BackgroundCopy } from '../../../lib/workspaces/delta/contents/background-copy.ts';
import type { WorkspaceFileSystemOptions } from '../../../lib/workspaces/workspace-file-system-options.ts';
import { Sandbox } from './sandbox.ts';

/** Sizes with different places for the contents: none, a slot of each slab, a data file. */
const SIZES = { empty: 0, 'slot-4k': 100, 'slot-16k': 9_000, 'slot-64k': 20_000, file: 70_000 };
type Place = keyof typeof SIZES;
const PLACES = Object.keys(SIZES) as Place[];
/** Origin of a file: created by the sandbox, or an unchanged base file. */
const ORIGINS = ['made', 'base'] as const;
/** Operation that gives a file its next size. */
const MEANS = ['replace', 'truncate', 'overwrite'] as const;

const text = (size: number, seed: string) => seed.repeat(Math.ceil(size / seed.length)).slice(0, size);

interface Case {
  path: string;
  origin: (typeof ORIGINS)[number];
  from: Place;
  to: Place;
  means: (typeof MEANS)[number];
}

const CASES: Case[] = ORIGINS.flatMap((origin) =>
  PLACES.flatMap((from) =>
    PLACES.flatMap((to) =>
      MEANS.map((means) => ({ origin, from, to, means, path: `${origin}.${from}.${to}.${means}` })),
    ),
  ),
);

/** One file for each case, with its expected contents. */
class Table {
  readonly s: Sandbox;
  readonly #into = Buffer.alloc(100_000);
  expected: Record<string, string> = {};

  constructor() {
    const base = CASES.filter(({ origin }) => origin !== 'made');
    this.s = new Sandbox(Object.fromEntries(base.map(({ path, from }) => [path, text(SIZES[from], path)])));
    mkdirSync(join(this.s.home, 'layers'));
    this.s.goOn({ ...this.s.spec, layers: join(this.s.home, 'layers') });
    for (const { path, origin, from } of CASES) {
      const content = text(SIZES[from], path);
      this.expected[path] = content;
      if (origin === 'made') this.s.create(path, content);
    }
    this.s.create('churn', '');
  }

  /** Moves every file to its next place. */
  move(): void {
    for (const { path, to, means } of CASES) {
      const content = text(SIZES[to], `${path}+`);
      if (means !== 'overwrite') this.s.set(path, { size: means === 'replace' ? 0 : SIZES[to] });
      if (means === 'truncate') this.expected[path] = this.expected[path]!.slice(0, SIZES[to]).padEnd(SIZES[to], '\0');
      else this.#change(path, (old) => content + (means === 'replace' ? '' : old.slice(content.length)), content, 0);
    }
  }

  /** Changes a few bytes of every file in place. */
  touch(): void {
    for (const { path } of CASES) {
      const at = Math.max(0, this.expected[path]!.length - 3);
      this.#change(path, (old) => `${old.slice(0, at)}end`, 'end', at);
    }
  }

  #change(path: string, expect: (old: string) => string, bytes: string, at: number): void {
    if (bytes !== '') this.s.write(path, bytes, at);
    this.expected[path] = expect(this.expected[path]!);
  }

  /** Makes the next load of the journal compact it. */
  churn(): void {
    for (let n = 0; n < 2 * CASES.length + 1100; n++) this.s.set('churn', { mode: n % 2 === 0 ? 0o600 : 0o644 });
  }

  check(expected = this.expected): void {
    const found = Object.fromEntries(CASES.map(({ path }) => [path, this.#read(path)]));
    const wrong = CASES.filter(({ path }) => found[path] !== expected[path]).map(
      ({ path }) => `${path}: ${found[path]!.length} bytes ${JSON.stringify(found[path]!.slice(0, 20))}`,
    );
    expect(wrong).toEqual([]);
  }

  #read(path: string): string {
    const { s } = this;
    try {
      const { nodeid, attr } = s.lookup(path)!;
      const length = s.fs.read(s.caller, nodeid, 0, this.#into);
      return attr.size === length ? this.#into.toString('latin1', 0, length) : 'another size than it has';
    } catch (error) {
      return `error ${(error as { errno?: number }).errno ?? error}`;
    }
  }
}

const ENDS: Record<string, (s: Sandbox) => void> = {
  'a stop': (s) => s.goOn(s.spec),
  'a kill': (s) => s.restart(),
};

const ACTS: Record<string, (table: Table, end: (s: Sandbox) => void) => void> = {
  nothing: () => undefined,
  'a checkpoint': ({ s }) => void s.fs.freeze(s.spec.id),
  'two checkpoints': (table) => {
    const { s } = table;
    s.fs.freeze(s.spec.id);
    table.touch();
    s.fs.freeze(s.spec.id);
  },
  'a fork, whose place it takes': ({ s }) => {
    const origin = s.fs.freeze(s.spec.id).layer;
    s.goOn({ ...s.spec, id: 'fork', delta: join(s.home, 'fork'), origin });
  },
  'a rollback': (table) => {
    const { s, expected } = table;
    const { layer } = s.fs.freeze(s.spec.id);
    const before = { ...expected };
    table.move();
    table.check();
    s.fs.rollback(s.spec.id, layer);
    table.expected = before;
  },
  'a compaction': (table, end) => {
    table.churn();
    end(table.s);
  },
  'a checkpoint and a compaction': (table, end) => {
    table.s.fs.freeze(table.s.spec.id);
    table.churn();
    end(table.s);
  },
  'a commit': ({ s, expected }) => {
    const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, 100_000);
    const settled = changes.map(({ path, now }) => ({ path, ...(now?.version && { version: now.version }) }));
    for (const { path } of settled) writeFileSync(join(s.spec.base, path), expected[path] ?? '');
    s.fs.baseChanging(
      s.spec.codebaseId,
      settled.map(({ path }) => path),
    );
    s.fs.rebase(s.spec, { commit: 'c', stage: 0, paths: settled, revertPaths: [], resumed: false });
    s.fs.baseChanged(
      s.spec.codebaseId,
      settled.map(({ path }) => path),
    );
  },
};

describe('contents that move from every place to every other', () => {
  for (const [act, make] of Object.entries(ACTS)) {
    for (const [name, end] of Object.entries(ENDS)) {
      it(`after ${act}, are the same after ${name}`, () => {
        const table = new Table();
        const { s } = table;
        table.check();
        make(table, end);
        table.check();
        table.move();
        table.check();
        end(s);
        table.check();
        make(table, end);
        end(s);
        table.check();
        table.touch();
        end(s);
        table.check();
      });
    }
  }

  it('are those of the base while a large one is copied, over checkpoints and restarts', () => {
    const MIB = 1 << 20;
    const copies: BackgroundCopy[] = [];
    const settings: WorkspaceFileSystemOptions = { startCopy: (copy) => void copies.push(copy) };
    for (const end of Object.values(ENDS)) {
      const content = text(5 * MIB, 'base');
      const s = new Sandbox({ large: content }, {}, settings);
      mkdirSync(join(s.home, 'layers'));
      s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
      s.create('other', 'other');
      const write = () => s.write('large', 'mine');
      expect(write).toThrow(Postponed);
      const first = s.fs.freeze(s.spec.id).layer;
      expect(s.read('large').slice(0, 8)).toBe('basebase');
      end(s);
      expect(s.read('large').slice(0, 8)).toBe('basebase');
      copies.length = 0;
      expect(write).toThrow(Postponed);
      const { id, from, to } = copies.pop()!;
      copyFileSync(from, to);
      s.fs.copied(id, 0);
      write();
      const second = s.fs.freeze(s.spec.id).layer;
      s.set('large', { size: 0 });
      s.write('large', 'small');
      end(s);
      expect(s.read('large')).toBe('small');
      s.fs.rollback(s.spec.id, second);
      expect(s.read('large').slice(0, 8)).toBe('minebase');
      s.fs.rollback(s.spec.id, first);
      expect([s.read('large').slice(0, 8), s.stat('large').size]).toEqual(['basebase', 5 * MIB]);
    }
  });
});
