import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OpenedFile } from '../../../lib/workspaces/workspace-files.ts';
import { rule, Sandbox } from './sandbox.ts';

const CHANGES: [what: string, change: (s: Sandbox, layer: string) => void][] = [
  ['new rules', (s) => s.fs.setRules('sb_1', [rule('/**', 'NONE')])],
  ['a write', (s) => s.write('own', 'more')],
  ['a new size', (s) => void s.set('own', { size: 1 })],
  ['a removal', (s) => s.unlink('own')],
  ['a rollback', (s, layer) => s.fs.rollback('sb_1', layer)],
  ['the end of the workspace', (s) => s.fs.detach('sb_1')],
];

it.each(CHANGES)('those who read its host files are warned of %s', (_what, change) => {
  const changeCount = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const s = new Sandbox({ file: 'old' });
  const layers = join(s.home, 'layers');
  mkdirSync(layers);
  s.goOn({ ...s.spec, changeCount, layers });
  s.create('own', 'text');
  const { layer } = s.fs.freeze('sb_1');
  expect([s.read('file'), s.read('own')]).toEqual(['old', 'text']);
  const before = changeCount[1];
  change(s, layer);
  expect(changeCount[1]).not.toBe(before);
});

it('a small file that programs may have mapped is read, and said to be such a file', () => {
  const changeCount = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const s = new Sandbox({ f: 'text', large: 'x'.repeat(70_000), other: 'text' }, { changeCount });
  const open = (path: string, flushed = false) =>
    s.fs.files('sb_1', 'agent', 'open', [path, flushed]) as OpenedFile | undefined;
  for (const path of ['f', 'large']) s.read(path);
  expect(open('other')?.mayBeMapped).toBeUndefined();
  expect(open('f', true)?.mayBeMapped).toBeUndefined();
  expect(open('large')).toBeUndefined();
  const { data, mayBeMapped, warnings } = open('f')!;
  expect([String(data), mayBeMapped, warnings]).toEqual(['text', true, changeCount[1]]);
  s.write('f', 'TEXT');
  expect(changeCount[1]).not.toBe(warnings);
});
