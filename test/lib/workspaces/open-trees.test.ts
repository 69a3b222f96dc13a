import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openTrees } from '../../../lib/workspaces/open-trees.ts';
import { treeEngine } from '../../../lib/workspaces/tree-engine.ts';
import { importTree } from '../../../scripts/fs-mount/import-tree.ts';
import { Sandbox } from './sandbox.ts';

/** More changes than one journal has. */
const MANY = 2500;

/** A sandbox on the disk over a codebase with these files. */
function sandboxOver(files: Record<string, string>): Sandbox {
  const home = mkdtempSync(join(tmpdir(), 'paddock-trees-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'files/d'), { recursive: true });
  for (const [path, text] of Object.entries(files)) writeFileSync(join(home, 'files', path), text);
  const tree = importTree(join(home, 'files'), join(home, 'store'), false);
  return new Sandbox({}, { tree }, { engine: treeEngine(openTrees()) });
}

it('shows the files of a codebase from its store', () => {
  const s = sandboxOver({ a: 'small', 'd/b': 'x'.repeat(100_000), empty: '' });
  expect(s.tree()).toEqual({ a: 'small', 'd/': '', 'd/b': 'x'.repeat(100_000), empty: '' });
});

it('keeps names and contents when the tree is frozen, of small and of large files', () => {
  const s = sandboxOver({ 'd/b': 'y'.repeat(100_000) });
  s.write('d/b', 'z');
  for (let n = 0; n < MANY; n++) s.create(`d/${n}`, String(n));
  s.write('d/0', 'again');
  s.unlink('d/1');
  expect(s.read('d/b')).toBe(`z${'y'.repeat(99_999)}`);
  expect(s.list('d')).toHaveLength(MANY);
  expect([s.read('d/0'), s.read('d/7'), s.read(`d/${MANY - 1}`)]).toEqual(['again', '7', String(MANY - 1)]);
});

it('does not change the store when a sandbox changes a file', () => {
  const s = sandboxOver({ a: 'codebase' });
  s.write('a', 'CODE');
  const other = new Sandbox({}, { tree: s.spec.tree!, id: 'sb_2' }, { engine: treeEngine(openTrees()) });
  expect([s.read('a'), other.read('a')]).toEqual(['CODEbase', 'codebase']);
});

it('refuses to attach a tree again, instead of showing another state', () => {
  const s = sandboxOver({ a: 'codebase' });
  s.write('a', 'CODE');
  s.fs.detach('sb_1');
  s.restart();
  expect(() => s.read('a')).toThrow('cannot be attached again yet');
});
