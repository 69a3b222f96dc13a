import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromText, ROOT_PATH } from '../../../lib/byte-string.ts';
import { CommitJournal } from '../../../lib/codebases/commit-journal.ts';
import type { CommitFiles } from '../../../lib/codebases/commits/commit-files.ts';
import type { Step } from '../../../lib/codebases/commits/commit-steps.ts';
import { spreadBelow } from '../../../lib/codebases/commits/spread.ts';
import { Storage } from '../../../lib/codebases/storage.ts';
import { silentLog } from '../../../lib/log.ts';
import { stepsOf } from '../../../lib/sandboxes/changes/commit-plan.ts';
import { newDirectories } from '../../../lib/sandboxes/changes/new-directories.ts';
import { smallContents } from '../../../lib/sandboxes/changes/small-contents.ts';
import { Staged } from '../../../lib/sandboxes/changes/staged.ts';
import type { Remote } from '../../../lib/threads/thread-pool.ts';
import { Sandbox } from '../workspaces/sandbox.ts';
import { applySteps, commitThread } from './commit-thread.ts';

const failing = vi.hoisted(() => ({ rename: false }));
vi.mock(import('node:fs'), async (original) => {
  const actual = await original();
  const renameSync: typeof actual.renameSync = (from, to) => {
    if (failing.rename && String(from).includes('/.spread-')) throw Object.assign(new Error('far'), { code: 'EXDEV' });
    actual.renameSync(from, to);
  };
  return { ...actual, renameSync };
});

/** The directory of all codebases, and the staging directory of one. */
let codebases: string;
let staging: string;
beforeEach(() => {
  codebases = mkdtempSync(join(tmpdir(), 'paddock-spread-'));
  staging = join(codebases, 'cb/commit');
  mkdirSync(staging, { recursive: true });
});
afterEach(() => {
  failing.rename = false;
  rmSync(codebases, { recursive: true });
});

/** Commits all changes of a sandbox; returns what was in the staging directory. */
async function commit(s: Sandbox): Promise<string[]> {
  const { remote, release } = await commitThread();
  const small = smallContents(async (inodes) => s.fs.contents('sb_1', inodes));
  const staged = await Staged.begin(staging, { remote, small, text: async () => undefined });
  const { changes } = s.fs.changes('sb_1', ROOT_PATH, Number.MAX_SAFE_INTEGER);
  await staged.useWhole(await newDirectories(changes), changes.length);
  await staged.take(changes);
  await release();
  const names = readdirSync(staging, { recursive: true }).map(String);
  expect(applySteps(s.spec.base, staging, await stepsOf(changes, staged))).toEqual([]);
  return names;
}

const FILES = Array.from({ length: 70 }, (_, n) => `f${n}`);

describe('the contents of a commit of many files', () => {
  it.each([
    ['', false],
    ['', true],
    ['n/', false],
    ['n/', true],
  ])('in %j are staged in a directory of their own (one that cannot be spread: %s)', async (at, near) => {
    failing.rename = near;
    const s = new Sandbox({});
    if (at !== '') s.mkdir('n');
    for (const name of FILES) s.create(at + name, name);
    expect((await commit(s)).every((name) => /^(many|elsewhere-\d+)(\/|$)/.test(name))).toBe(true);
    for (const name of FILES) expect(readFileSync(join(s.spec.base, at + name), 'utf8')).toBe(name);
    expect(readdirSync(codebases)).toEqual(['cb']);
  });

  it('are durable with the whole disk, as the names of their directory are', async () => {
    const synced: unknown[] = [];
    const all = async () => void synced.push('all');
    const journal = new CommitJournal(join(codebases, 'cb'), join(codebases, 'cb/files'), undefined, all);
    const remote = {
      syncFew: async (...[, , , names]) => {
        synced.push(names);
        return true;
      },
    } as Partial<Remote<CommitFiles>>;
    for (const name of ['0', 'many/0']) {
      const steps: Step[] = [['put', fromText('f'), fromText(name)]];
      await journal.prepare({ id: 'c', stages: [{ steps, settled: [] }], givenUp: [] }, remote as Remote<CommitFiles>);
    }
    expect(synced).toEqual([['0'], 'all']);
  });
});

it('a few files are staged without a directory', async () => {
  const s = new Sandbox({});
  for (const name of FILES.slice(0, 10)) s.create(name, name);
  expect(await commit(s)).toHaveLength(10);
});

it('a start removes a directory that a crash left before it was moved', async () => {
  mkdirSync(join(codebases, '.spread-1'));
  await new Storage(codebases).recover(() => true, silentLog);
  expect(existsSync(join(codebases, '.spread-1'))).toBe(false);
});

it('a disk without the attribute, or no directory, is no error', async () => {
  await spreadBelow('/proc/self');
  await spreadBelow(join(codebases, 'gone'));
});
