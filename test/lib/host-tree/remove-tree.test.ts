import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeTree } from '../../../lib/host-tree/remove-tree.ts';

let scratch: string;
let tree: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'remove-tree-'));
  tree = join(scratch, 'tree');
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

describe('removeTree', () => {
  it('removes files and directories of any name', async () => {
    mkdirSync(join(tree, 'a/b'), { recursive: true });
    for (const name of [Buffer.from([0xff, 0xfe]), Buffer.from('new\nline'), Buffer.from('é')]) {
      writeFileSync(Buffer.concat([Buffer.from(`${tree}/a/`), name]), 'x');
    }
    await removeTree(tree);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('treats entries that another process removes meanwhile as removed', async () => {
    mkdirSync(tree);
    for (let file = 0; file < 500; file++) writeFileSync(join(tree, `f${file}`), '');
    await Promise.all([removeTree(tree), removeTree(tree), removeTree(tree)]);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('removes directories nested deeper than any path can name', async () => {
    // Built from the inside out: the existing tree becomes the child of a new directory.
    mkdirSync(tree);
    for (let depth = 0; depth < 3000; depth++) {
      mkdirSync(join(scratch, 'outer'));
      renameInto();
    }
    await removeTree(tree);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('removes a symlink and keeps its target', async () => {
    const outside = join(scratch, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), '');
    mkdirSync(tree);
    symlinkSync(outside, join(tree, 'link'));
    await removeTree(tree);
    expect(existsSync(join(outside, 'kept'))).toBe(true);
    symlinkSync(outside, tree);
    await removeTree(tree);
    expect(readdirSync(scratch)).toEqual(['outside']);
    expect(existsSync(join(outside, 'kept'))).toBe(true);
  });

  it('completes a removal that a crash interrupted, also if the tree uses its temporary names', async () => {
    mkdirSync(join(tree, '.moved-0/.moved-0/.moved-1'), { recursive: true });
    mkdirSync(join(tree, 'a/b'), { recursive: true });
    writeFileSync(join(tree, '.moved-0/x'), '');
    writeFileSync(join(tree, '.moved-1'), '');
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  it('treats a missing tree as removed', async () => {
    await expect(removeTree(tree)).resolves.toBeUndefined();
  });
});

function renameInto(): void {
  renameSync(tree, join(scratch, 'outer', 'd'.repeat(100)));
  renameSync(join(scratch, 'outer'), tree);
}
