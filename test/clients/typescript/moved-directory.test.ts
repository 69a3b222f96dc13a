import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Tree } from '../../../clients/typescript/src/local/tree.ts';

let home: string;
let tree: Tree;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'paddock-moved-'));
  mkdirSync(join(home, 'root/d'), { recursive: true });
  tree = new Tree(join(home, 'root'));
});
afterEach(() => {
  tree.close();
  // Node's own cannot reach long paths.
  execFileSync('rm', ['-r', home]);
});

/** Another user's part, while a file arrives. */
function exchange(): void {
  renameSync(join(home, 'root/d'), join(home, 'outside'));
  symlinkSync('../outside', join(home, 'root/d'));
}

it('a directory that was moved out is not written to, although a symlink leads to it', () => {
  const held = tree.open(['d']);
  expect(tree.leadsTo(['d'], held)).toBe(true);
  exchange();
  expect(tree.leadsTo(['d'], held)).toBe(false);
  held?.close();
});

it('a directory whose path is longer than the kernel tells is known, too', () => {
  const names = ['d', ...Array.from({ length: 17 }, () => 'n'.repeat(250))];
  const held = tree.open(names, { make: true });
  expect(tree.leadsTo(names, held)).toBe(true);
  renameSync(join(home, 'root/d'), join(home, 'root/e'));
  expect(tree.leadsTo(names, held)).toBe(false);
  tree.open(names, { make: true })?.close();
  expect(tree.leadsTo(names, held)).toBe(false);
  held?.close();
});

it('nothing is made in a directory that was moved out', () => {
  expect(tree.open(['d', 'missing'])).toBeUndefined();
  exchange();
  expect(() => tree.leadsTo(['d', 'missing'], undefined)).toThrow(/ENOTDIR|ELOOP/);
  expect(() => tree.open(['d', 'missing'], { make: true })).toThrow(/ENOTDIR|ELOOP/);
});
