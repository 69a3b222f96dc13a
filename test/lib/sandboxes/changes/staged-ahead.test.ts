import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../../lib/byte-string.ts';
import type { CommitFiles } from '../../../../lib/codebases/commits/commit-files.ts';
import { listedInPages } from '../../../../lib/sandboxes/changes/listed-in-pages.ts';
import { smallContents } from '../../../../lib/sandboxes/changes/small-contents.ts';
import { Staged } from '../../../../lib/sandboxes/changes/staged.ts';
import type { Remote } from '../../../../lib/threads/thread-pool.ts';
import type { WorkspaceChange } from '../../../../lib/workspaces/workspaces.ts';
import { commitThread } from '../../codebases/commit-thread.ts';
import { Sandbox } from '../../workspaces/sandbox.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-staged-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const changesOf = (s: Sandbox, after = ROOT_PATH, limit = Number.MAX_SAFE_INTEGER) =>
  s.fs.changes('sb_1', after, limit);
const held = () => readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));

async function stagedOf(s: Sandbox, remote: Remote<CommitFiles>): Promise<Staged> {
  const small = smallContents(async (inodes) => s.fs.contents('sb_1', inodes));
  return Staged.begin(directory, { remote, small, text: async () => undefined });
}

describe('what a commit stages before it knows all changes', () => {
  it('is small files whose contents changed, outside of new directories', async () => {
    const s = new Sandbox({ a: 'a', b: 'b', gone: 'x' });
    s.write('a', 'A');
    s.set('b', { mode: 0o600 });
    s.mkdir('n');
    s.create('n/f', 'f');
    s.create('o', 'o');
    s.unlink('gone');
    const { remote, release } = await commitThread();
    const staged = await stagedOf(s, remote);
    await staged.ahead(changesOf(s).changes);
    await staged.aheadWritten;
    expect(held()).toEqual(['A', 'o']);
    await release();
  });

  it('is staged again if it is written to meanwhile', async () => {
    const s = new Sandbox({ a: 'a', b: 'b' });
    s.write('a', 'A');
    s.write('b', 'B');
    const { remote, release } = await commitThread();
    const staged = await stagedOf(s, remote);
    await staged.ahead(changesOf(s).changes);
    await staged.aheadWritten;
    s.write('b', 'Later');
    const { changes } = changesOf(s);
    expect(await staged.holds(changes)).toBe(false);
    await staged.take(changes);
    expect(await staged.holds(changes)).toBe(true);
    expect(held()).toEqual(['A', 'Later']);
    await release();
  });

  it('is nothing more after a failure, which the commit does not have if the rest succeeds', async () => {
    const s = new Sandbox({ a: 'a', b: 'b' });
    s.write('a', 'A');
    s.write('b', 'B');
    const { remote, release } = await commitThread();
    let failures = 1;
    const write: typeof remote.write = async (...args) => {
      if (failures-- > 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return remote.write(...args);
    };
    const failing = new Proxy(remote, { get: (it, name) => (name === 'write' ? write : it[name as 'write']) });
    const staged = await stagedOf(s, failing);
    const { changes } = changesOf(s);
    for (const change of changes) await staged.ahead([change]);
    await staged.aheadWritten;
    expect(held()).toEqual([]);
    await staged.take(changes);
    expect(held()).toEqual(['A', 'B']);
    await release();
  });

  it('is nothing from a change on that will be refused', async () => {
    const s = new Sandbox({ a: 'a', b: 'b', c: 'c' });
    for (const name of ['a', 'b', 'c']) s.write(name, name.toUpperCase());
    const { remote, release } = await commitThread();
    const staged = await stagedOf(s, remote);
    const [a, b, c] = changesOf(s).changes as [WorkspaceChange, WorkspaceChange, WorkspaceChange];
    await staged.ahead([a]);
    await staged.ahead([{ ...b, conflict: true }]);
    await staged.ahead([c]);
    await staged.aheadWritten;
    expect(held()).toEqual(['A']);
    await release();
  });
});

describe('changes in pages', () => {
  const many = (count: number) => {
    const s = new Sandbox({});
    for (let n = 0; n < count; n++) s.create(`f${n}`, '');
    return s;
  };

  it('are all changes, of which each page but the last is passed on, and which grow', async () => {
    const s = many(1700);
    const passed: number[] = [];
    const take = async (some: readonly WorkspaceChange[]) => void passed.push(some.length);
    const list = async (...page: [typeof ROOT_PATH, number]) => changesOf(s, ...page);
    const listed = await listedInPages(list, { has: () => true }, { take, isAsBefore: () => true });
    expect(listed?.listed).toEqual(changesOf(s).changes);
    expect(passed).toEqual([256, 256, 256, 256, 256, 320]);
    expect(await listedInPages(list, { has: () => false }, { take, isAsBefore: () => true })).toEqual(listed);
    expect(passed.slice(6)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('are all in one page, which is a state of the sandbox whatever it does meanwhile', async () => {
    const s = many(256);
    const list = async (...page: [typeof ROOT_PATH, number]) => changesOf(s, ...page);
    const listed = await listedInPages(list, { has: () => true }, { take: async () => {}, isAsBefore: () => false });
    expect(listed?.listed).toHaveLength(256);
  });

  it('are none if something changed meanwhile', async () => {
    const s = many(300);
    let asked = 0;
    const list = async (...page: [typeof ROOT_PATH, number]) => {
      asked++;
      return changesOf(s, ...page);
    };
    const take = async () => void s.create('later', '');
    expect(await listedInPages(list, { has: () => true }, { take, isAsBefore: () => asked < 2 })).toBeUndefined();
    expect(asked).toBe(2);
  });
});
