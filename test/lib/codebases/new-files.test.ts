import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromText } from '../../../lib/byte-string.ts';
import { NewFiles } from '../../../lib/codebases/commits/new-files.ts';
import { WritableTree } from '../../../lib/host-tree/writable-tree.ts';
import { closeQuietly } from '../../../lib/linux/close.ts';

let codebases: string;
let staging: string;
let tree: WritableTree;
let clock: number;
let files: NewFiles;
beforeEach(() => {
  codebases = mkdtempSync(join(tmpdir(), 'paddock-new-files-'));
  staging = join(codebases, 'cb/commit');
  mkdirSync(join(staging, 'many'), { recursive: true });
  tree = new WritableTree(staging);
  clock = 0;
});
afterEach(() => {
  files.close();
  tree.close();
  rmSync(codebases, { recursive: true });
});

/** Creates files, each in as many milliseconds as the next of `took`. */
function create(took: readonly number[]): string[] {
  let calls = 0;
  files = new NewFiles(staging, tree, () => {
    if (calls++ % 2 === 1) clock += took[(calls >> 1) - 1]!;
    return clock;
  });
  for (const index of took.keys()) {
    const fd = files.create(fromText(`many/${index}`), 0o640);
    writeSync(fd, String(index));
    closeQuietly(fd);
  }
  return readdirSync(staging).sort();
}

function expectAll(count: number): void {
  expect(readdirSync(join(staging, 'many'))).toHaveLength(count);
  for (let index = 0; index < count; index++) {
    const path = join(staging, 'many', String(index));
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([String(index), 0o640]);
  }
  expect(readdirSync(codebases)).toEqual(['cb']);
}

it('stay at their place while slow creations are not in a row', () => {
  expect(create([1, 1, 1, 0, 1, 1, 1, 0])).toEqual(['many']);
  expectAll(8);
});

it('are created elsewhere after slow ones, and moved to their place', () => {
  expect(create([1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0])).toEqual(['elsewhere-1', 'elsewhere-2', 'many']);
  expectAll(11);
  expect(readdirSync(join(staging, 'elsewhere-1'))).toEqual([]);
});

it('are created at their place again where none is fast', () => {
  expect(create(new Array(100).fill(1))).toHaveLength(16 + 1);
  expectAll(100);
});

it('stay at their place if no other can be made', () => {
  mkdirSync(join(staging, 'elsewhere-1/x'), { recursive: true });
  expect(create([1, 1, 1, 1, 0, 0])).toEqual(['elsewhere-1', 'many']);
  expectAll(6);
});
