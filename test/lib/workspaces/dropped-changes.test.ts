import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { madeFor, wholeReplacing } from '../../../lib/sandboxes/changes/chosen-changes.ts';
import { EVERYTHING, ownDirectories } from './own-directories.ts';
import { Sandbox } from './sandbox.ts';
import { settledPaths } from './settled-paths.ts';

function changes(s: Sandbox): string[] {
  const all = s.fs.changes(s.spec.id, ROOT_PATH, 1000).changes;
  return all.map(({ path, kind, conflict }) => `${kind} ${path}${conflict ? ' in conflict' : ''}`);
}

function inBase(s: Sandbox, path: string, change: () => void): void {
  s.fs.preserveRemoved(s.spec, [fromText(path)]);
  s.fs.baseChanging('cb_1', [fromText(path)]);
  change();
  s.fs.baseChanged('cb_1', [fromText(path)]);
}

const upload = (s: Sandbox, path: string) => inBase(s, path, () => s.putBase(path, 'theirs'));

/** Commits the removals, and drops the changes at these paths. */
async function commit(s: Sandbox, drops: readonly string[] = []): Promise<void> {
  const all = s.fs.changes(s.spec.id, ROOT_PATH, 1000, EVERYTHING).changes;
  const committed = all.filter(({ path }) => !drops.includes(path));
  const own = ownDirectories(s);
  const reverted = drops.map(fromText);
  const equal = await wholeReplacing(EVERYTHING.selection, all, own);
  const paths = all.map(({ path }) => path);
  s.fs.baseChanging('cb_1', paths);
  for (const { path, now } of committed) {
    if (now === undefined) rmSync(join(s.spec.base, path), { recursive: true, force: true });
    else s.putBase(path, s.read(path));
  }
  const stage = { commit: 'c', resumed: false, paths: settledPaths(committed, own, { reverted, equal }) };
  s.fs.rebase(s.spec, { ...stage, stage: 0, revertPaths: [] });
  s.fs.rebase(s.spec, { ...stage, stage: 1, paths: [], revertPaths: reverted });
  s.fs.baseChanged('cb_1', paths);
}

describe('a removal that a commit drops', () => {
  it('in a directory that replaces the codebase’s, with nothing else to commit there, shows the codebase’s file', async () => {
    const s = new Sandbox({ 'p/a': 'base' });
    s.unlink('p/a');
    s.rmdir('p');
    s.mkdir('p');
    upload(s, 'p/a');
    expect(changes(s)).toEqual(['deleted p/a in conflict']);
    await commit(s, ['p/a']);
    expect([s.read('p/a'), changes(s)]).toEqual(['theirs', []]);
  });
});

describe('a change in a directory that the codebase removed', () => {
  it.each(['removed', 'replaced by a file'])('is reverted with the directory, which was %s', (how) => {
    const s = new Sandbox({ 'q/d/e': 'base', 'q/f': 'base' });
    s.create('q/d/n');
    inBase(s, 'q/d', () => {
      rmSync(join(s.spec.base, 'q/d'), { recursive: true });
      if (how !== 'removed') s.putBase('q/d', 'theirs');
    });
    s.fs.revert(s.spec.id, [fromText('q/d/n')]);
    expect(changes(s)).toEqual([]);
    expect(s.tree()).toEqual({ 'q/': '', 'q/f': 'base', ...(how !== 'removed' && { 'q/d': 'theirs' }) });
  });
});

describe('what the codebase got in a directory of the sandbox is shown after a commit', () => {
  it('that replaces the codebase’s, and has no change any more', async () => {
    const s = new Sandbox({ 'p/a': 'base', x: 'base' });
    s.unlink('p/a');
    s.rmdir('p');
    s.mkdir('p');
    upload(s, 'p/n');
    inBase(s, 'p/a', () => rmSync(join(s.spec.base, 'p/a')));
    s.unlink('x');
    expect([s.list('p'), changes(s)]).toEqual([[], ['deleted x']]);
    await commit(s);
    expect([s.list('p'), changes(s)]).toEqual([['n'], []]);
  });

  it('that was renamed, at the name of an entry that was removed from it', async () => {
    const s = new Sandbox({ 'q/e': 'base', 'q/g': 'base' });
    s.rename('q', 'p');
    s.unlink('p/e');
    upload(s, 'p/e');
    expect(changes(s)).toEqual(['added p/g', 'deleted q', 'deleted q/e', 'deleted q/g']);
    await commit(s);
    expect([s.read('p/e'), changes(s)]).toEqual(['theirs', []]);
    s.restart();
    expect(changes(s)).toEqual([]);
  });
});

it('a new directory above a chosen path is among those that the codebase gets', async () => {
  const s = new Sandbox();
  s.mkdir('p');
  s.mkdir('p/q');
  s.create('p/q/f');
  s.mkdir('p/r');
  const { changes: all } = s.fs.changes(s.spec.id, ROOT_PATH, 1000);
  const only = all.filter(({ path }) => path === 'p/q/f');
  expect(await madeFor(all, only)).toEqual(['p', 'p/q']);
  expect(await madeFor(all, all)).toEqual([]);
});
