import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fromText } from '../../../../lib/byte-string.ts';
import { READ } from '../../../../lib/permissions/index.ts';
import { HunkParts } from '../../../../lib/sandboxes/changes/hunk-parts.ts';
import { partOf } from '../../../../lib/sandboxes/changes/part-change.ts';
import type { WorkspaceChange } from '../../../../lib/workspaces/workspaces.ts';

const FILE = 0o100644;
const CHOICE = { path: 'a', sha256: '', base_sha256: '', indexes: [0] };

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'paddock-parts-'));
  for (const side of ['base', 'now']) {
    mkdirSync(join(root, side));
    writeFileSync(join(root, side, 'a'), side);
  }
});
afterEach(() => rmSync(root, { recursive: true }));

/** `made`: the parts that were made. */
function parts(isDryRun = false) {
  const made: string[] = [];
  const choose = async (before: Uint8Array, after: Uint8Array) => {
    made.push(`${before} ${after}`);
    return Buffer.from('part');
  };
  const trees = { id: 'sb_1', base: join(root, 'base'), attached: () => expect.unreachable() };
  return { made, all: new HunkParts([CHOICE], choose, trees, isDryRun) };
}

function change(writes: number, baseTime = 1): WorkspaceChange {
  const hostFile = { root: join(root, 'now'), path: fromText('a') };
  const now = { mode: FILE, size: 3, mtime: { sec: 1, nsec: 0 }, hostFile, version: [7, writes] as const };
  const base = { mode: FILE, size: 4, mtime: { sec: baseTime, nsec: 0 } };
  const flags = { contentChanged: true, conflict: false, writable: true, level: READ };
  return { path: fromText('a'), kind: 'modified', now, base, ...flags };
}

it('a part is made again only if one of the two versions is another', async () => {
  const { made, all } = parts();
  for (const each of [change(1), change(1), change(2), change(2), change(2, 9), change(2, 9)]) {
    const [parted] = await all.of([each], '');
    expect(String(partOf(parted!))).toBe('part');
    expect(parted!.now).toMatchObject({ size: 4, version: [7, -1] });
  }
  expect(made).toEqual(['base now', 'base now', 'base now']);
});

it('a dry run has the size of a part without its bytes', async () => {
  const [parted] = await parts(true).all.of([change(1)], '');
  expect([partOf(parted!), parted!.now!.size]).toEqual([undefined, 4]);
});
