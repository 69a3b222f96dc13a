import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
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
