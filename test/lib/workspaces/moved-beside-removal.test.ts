import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ByteString, fromText } from '../../../lib/byte-string.ts';
import type { BackgroundCopy } from '../../../lib/workspaces/delta/contents/background-copy.ts';
import { Sandbox } from './sandbox.ts';
import { postponedBy, sliced } from './stepping.ts';

const BASE = { 'd/x': 'x', 'd/sub/y': 'y', 'e/z': 'z', 'f/a': 'a' };
const REMOVED = ['d/sub', 'd/sub/y', 'd/x'].map(fromText);
const EXCHANGE = 2;

function removal(s: Sandbox, paths: readonly ByteString[] = REMOVED, by?: string) {
  return s.fs.baseChanging('cb_1', paths, by === undefined ? undefined : { id: by, added: [] }, paths);
}

function onDisk(s: Sandbox): void {
  for (const path of ['d/sub', 'd/x']) rmSync(join(s.spec.base, path), { recursive: true });
}

describe('while the codebase loses files', () => {
  it.each([
    ['that holds one', (s: Sandbox) => s.rename('d', 'e/d')],
    ['that is one', (s: Sandbox) => s.rename('d/sub', 'e/sub')],
    ['that holds one, exchanged', (s: Sandbox) => s.rename('e', 'd', EXCHANGE)],
    ['that holds one, by a client', (s: Sandbox) => moveByClient(s, 'd', 'moved')],
  ])('the move of a directory waits: %s', (_, move) => {
    const { s, released } = sliced(BASE);
    const before = s.tree();
    expect(removal(s)).toEqual([]);
    const cause = postponedBy(() => move(s));
    expect(s.tree()).toEqual(before);
    onDisk(s);
    expect(released).not.toContain(cause);
    s.fs.baseChanged('cb_1', REMOVED);
    expect(released).toContain(cause);
    s.rename('d', 'moved');
    expect(s.tree()).toEqual({ 'e/': '', 'e/z': 'z', 'f/': '', 'f/a': 'a', 'moved/': '' });
  });

  it('it waits no longer than to the last rebase of the commit', () => {
    const { s, released } = sliced(BASE);
    s.tree();
    removal(s, REMOVED, 'other');
    const cause = postponedBy(() => s.rename('d', 'moved'));
    onDisk(s);
    const stage = { commit: 'c', stage: 0, paths: [], revertPaths: [], resumed: false };
    const other = { ...s.spec, id: 'other', delta: join(s.home, 'other') };
    s.fs.attach(other);
    s.fs.rebase(other, stage);
    expect(released).not.toContain(cause);
    s.fs.rebase(other, { ...stage, isLast: true });
    expect(released).toContain(cause);
  });

  it('it does not wait for a rebase that fails because the delta cannot be read', () => {
    const { s, released } = sliced(BASE);
    s.tree();
    removal(s, REMOVED, 'other');
    const cause = postponedBy(() => s.rename('d', 'moved'));
    const other = { ...s.spec, id: 'other', base: join(s.home, 'absent'), delta: join(s.home, 'other') };
    const stage = { commit: 'c', stage: 0, paths: [], revertPaths: [], resumed: false };
    expect(() => s.fs.rebase(other, stage)).toThrow();
    expect(released).toContain(cause);
  });

  it.each([
    ['of another directory', (s: Sandbox) => s.rename('e', 'moved')],
    ['of a file', (s: Sandbox) => s.rename('d/x', 'moved')],
    ['of a directory that was moved before', (s: Sandbox) => s.rename('was', 'moved')],
    ['of a new directory', (s: Sandbox) => s.rename('new', 'moved')],
  ])('no other move waits: %s', (_, move) => {
    const { s } = sliced(BASE);
    s.rename('f', 'was');
    s.mkdir('new');
    removal(s, [...REMOVED, fromText('f/a')]);
    move(s);
    expect(s.exists('moved')).toBe(true);
  });

  it('no move of the sandbox waits that removes them', () => {
    const { s } = sliced(BASE);
    removal(s, REMOVED, s.spec.id);
    s.rename('d', 'moved');
    expect(s.exists('moved')).toBe(true);
  });

  it('a directory that was moved between the copies and this moment keeps them', () => {
    const s = new Sandbox(BASE);
    s.fs.preserveRemoved(s.spec, REMOVED);
    s.rename('d', 'moved');
    const before = s.tree();
    expect(removal(s)).toEqual([]);
    onDisk(s);
    s.fs.baseChanged('cb_1', REMOVED);
    expect(s.tree()).toEqual(before);
  });

  it('and no move is made while a large one of them is copied', () => {
    const copies: BackgroundCopy[] = [];
    const { s } = sliced({ ...BASE, 'd/x': 'x'.repeat(5 << 20) }, { startCopy: (copy) => copies.push(copy) });
    s.rename('d', 'moved');
    postponedBy(() => removal(s, [...REMOVED, fromText('e/z')]));
    expect(copies).toHaveLength(1);
    postponedBy(() => s.rename('e', 'other'));
  });

  it('one that the quota has no room for is named', () => {
    const s = new Sandbox({ ...BASE, 'd/x': 'x'.repeat(5000) }, { maxBytes: 1000 });
    s.rename('d', 'moved');
    expect(removal(s)).toEqual([{ id: s.spec.id, reason: 'the quota of the sandbox is used up' }]);
    onDisk(s);
    s.fs.baseChanged('cb_1', REMOVED);
    expect(s.tree()).toMatchObject({ 'moved/sub/y': 'y' });
  });
});

function moveByClient(s: Sandbox, from: string, to: string): void {
  s.fs.begin('files', [s.spec.id, 'owner', 'move', [fromText(from), fromText(to), false]]);
}
