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
import { describe, expect, it } from 'vitest';
import { checkDelta } from '../../../lib/workspaces/delta/layers/layers-on-disk.ts';
import type { DamageReport } from '../../../lib/workspaces/workspaces.ts';
import { outcome, Sandbox } from './sandbox.ts';

function sandbox(): { s: Sandbox; journal: string; reports: DamageReport[] } {
  const reports: DamageReport[] = [];
  const s = new Sandbox({ a: 'base' }, {}, { damaged: (report) => void reports.push(report) });
  mkdirSync(join(s.home, 'layers'));
  s.goOn({ ...s.spec, layers: join(s.home, 'layers') });
  return { s, journal: join(s.spec.delta, 'journal'), reports };
}

const LOSSES: Record<string, (journal: string) => void> = {
  gone: (journal) => rmSync(journal),
  empty: (journal) => truncateSync(journal, 0),
  'cut within its first line': (journal) => truncateSync(journal, 30),
};

describe('a journal that is', () => {
  for (const [name, lose] of Object.entries(LOSSES)) {
    it(`${name} is an error, never a sandbox without changes`, async () => {
      const { s, journal, reports } = sandbox();
      s.create('f', 'f');
      lose(journal);
      const layers = readdirSync(s.spec.layers!);
      await expect(checkDelta(s.spec, false)).rejects.toMatchObject({
        code: 'DATA_LOSS',
        message: 'the delta of the sandbox is damaged: its journal is missing or empty',
      });
      for (const round of [1, 2]) {
        s.restart();
        expect([round, outcome(() => s.list('')), outcome(() => s.create('g'))]).toEqual([round, 'EIO', 'EIO']);
        expect(() => s.fs.freeze(s.spec.id)).toThrow(/journal is missing/);
      }
      expect(reports.map(({ id, path }) => [id, path])).toEqual([1, 2].map(() => [s.spec.id, undefined]));
      expect(readdirSync(s.spec.layers!)).toEqual(layers);
    });
  }

  it('shorter than its synced length is an error', async () => {
    const { s, journal } = sandbox();
    s.create('f', 'f');
    s.fs.syncAll();
    const size = statSync(journal).size;
    s.create('g', 'g');
    truncateSync(journal, size);
    s.restart();
    expect(s.list('')).toEqual(['a', 'f']);
    truncateSync(journal, size - 1);
    s.restart();
    expect(outcome(() => s.list(''))).toBe('EIO');
    await expect(checkDelta(s.spec, false)).rejects.toThrow(/has \d+ bytes, and had \d+/);
  });

  it('replaced by one from before a checkpoint is an error', async () => {
    const { s, journal } = sandbox();
    s.create('f', 'f');
    const before = readFileSync(journal);
    s.fs.freeze(s.spec.id);
    writeFileSync(journal, before);
    await expect(checkDelta(s.spec, false)).rejects.toThrow(/an older one/);
    s.restart();
    expect(outcome(() => s.list(''))).toBe('EIO');
  });

  it('gone with its directory is an error if a layer or the metadata refers to it', async () => {
    const { s } = sandbox();
    await expect(checkDelta(s.spec, false)).resolves.toBeUndefined();
    s.mkdir('d');
    rmSync(s.spec.delta, { recursive: true });
    await expect(checkDelta(s.spec, true)).rejects.toMatchObject({ code: 'DATA_LOSS' });
    s.restart();
    s.create('f', 'f');
    rmSync(s.spec.delta, { recursive: true });
    await expect(checkDelta(s.spec, false)).rejects.toMatchObject({ code: 'DATA_LOSS' });
  });

  it('intact except for a missing mark is accepted', () => {
    const { s, journal } = sandbox();
    s.create('f', 'f');
    s.fs.syncAll();
    for (const harm of [() => rmSync(`${journal}.mark`), () => writeFileSync(`${journal}.mark`, 'no mark')]) {
      harm();
      s.restart();
      expect(s.read('f')).toBe('f');
      s.fs.syncAll();
    }
  });
});

describe('the name of a layer', () => {
  it('is never reused, not even by a sandbox that lost everything', () => {
    const { s } = sandbox();
    s.create('f', 'forked');
    const layer = s.fs.freeze(s.spec.id).layer;
    const fork = { ...s.spec, id: 'fork', delta: join(s.home, 'fork'), origin: layer };
    rmSync(s.spec.delta, { recursive: true });
    s.restart();
    s.create('f', 'other');
    const again = s.fs.freeze(s.spec.id).layer;
    expect(again).not.toBe(layer);
    s.goOn(fork);
    expect(s.read('f')).toBe('forked');
    expect(existsSync(join(s.spec.layers!, layer, 'index'))).toBe(true);
  });
});

describe('a frozen layer that is missing', () => {
  it('is an error that names it for a fork, a rollback and the sandbox that extends it', async () => {
    const { s } = sandbox();
    s.create('f', 'f');
    const first = s.fs.freeze(s.spec.id).layer;
    s.create('g', 'g');
    const second = s.fs.freeze(s.spec.id).layer;
    rmSync(join(s.spec.layers!, first), { recursive: true });
    s.fs.detach(s.spec.id);
    s.restart();
    const missing = new RegExp(`the frozen layer ${first} is missing`);
    await expect(checkDelta(s.spec, false)).rejects.toThrow(missing);
    expect(outcome(() => s.list(''))).toBe('EIO');
    const fork = { ...s.spec, id: 'fork', delta: join(s.home, 'fork'), origin: second };
    await expect(checkDelta(fork, false)).rejects.toThrow(missing);
    s.goOn({ ...s.spec, id: 'other', delta: join(s.home, 'other') });
    s.create('h', 'h');
    expect(() => s.fs.rollback('other', first)).toThrow(missing);
    expect(s.read('h')).toBe('h');
  });
});
