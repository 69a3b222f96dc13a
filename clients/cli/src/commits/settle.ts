import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { sentenceOf } from '../command-line/errors.ts';
import { counted } from '../review/changes.ts';
import type { Commits } from './new-commits.ts';
import { type Came, findCommits, refusalOf, showCommits, takeCommits, wantsCommits } from './take.ts';

interface Run {
  from: string | undefined;
  apply: 'all' | 'none' | undefined;
  allow: readonly string[];
  isTerminal: boolean;
}

interface SettledCommits {
  came: Came[];
  /** They were to come, and could not. */
  missing: boolean;
  /** They are only in the sandbox. */
  keep: boolean;
}

/** What a commit changes in a repository. */
const OF_COMMITS = /^\.git\/(HEAD|packed-refs|(refs|objects|reftable)(\/.*)?)$/s;
const NOTHING: SettledCommits = { came: [], missing: false, keep: false };

const hasRepository = (directory: string): Promise<boolean> =>
  lstat(join(directory, '.git')).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** What to exclude from the changes for a directory: its repository, whose commits come by themselves. */
export const commitsApart = async (directory: string): Promise<string[]> =>
  (await hasRepository(directory)) ? ['.git'] : [];

/** Whether git made commits in the sandbox, or moved its branches. */
export async function hasCommitted(sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
  return (await sandbox.changes({ paths: ['.git'], signal })).some(({ path }) => OF_COMMITS.test(path));
}

/** Shows the commits of a sandbox that runs, and brings them, if they are wanted, as a branch. A failure is told. */
export async function settleCommits(context: Context, sandbox: Sandbox, run: Run): Promise<SettledCommits> {
  const { out, signal } = context;
  const { from, apply, allow } = run;
  if (from === undefined || apply === 'none' || !(await hasRepository(from))) return NOTHING;
  if (!(await hasCommitted(sandbox, signal))) return NOTHING;
  let commits: Commits | undefined;
  try {
    commits = await findCommits(sandbox, { directory: from, allow }, context);
    return commits ? await decided(context, sandbox, commits, run) : NOTHING;
  } catch (error) {
    signal.throwIfAborted();
    out.warn(`the commits of the sandbox are left out: ${sentenceOf(error)}`);
    return { came: [], missing: apply === 'all', keep: true };
  } finally {
    await commits?.close();
  }
}

async function decided(
  context: Context,
  sandbox: Sandbox,
  commits: Commits,
  { apply, isTerminal }: Run,
): Promise<SettledCommits> {
  const { out } = context;
  showCommits(commits, context);
  const asks = apply === undefined && isTerminal;
  const left = { came: [], missing: false, keep: true };
  const refusal = refusalOf(commits, asks);
  if (refusal !== undefined) {
    out.warn(refusal);
    return left;
  }
  if (asks && !(await wantsCommits(commits, context))) return NOTHING;
  if (asks || apply === 'all') return { ...left, came: await takeCommits(commits, context), keep: false };
  const count = commits.branches.reduce((sum, each) => sum + each.count, 0);
  out.note(`${counted(count, 'commit')} not taken: "paddock pull ${sandbox.id} --commits" brings them as a branch`);
  return left;
}
