import { CliError } from '../command-line/errors.ts';
import type { HostRepository } from './host.ts';

const BELOW = 'refs/heads/paddock/';
const MOST_NUMBERS = 1000;
const MOST_LENGTH = 60;

/** A part of the name of a branch, made of what a sandbox or its agent chose. */
export const namePart = (name: string): string =>
  name
    .replace(/[^\w.-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, MOST_LENGTH)
    .replace(/^[-.]+|[-.]+$|\.lock$/g, '') || 'work';

export interface Target {
  /** "paddock/NAME" */
  branch: string;
  commit: string;
  /** Where the branch is now; absent: it is new. */
  from?: string;
}

/** A branch that is new, or that the commit only moves forward. Others stay, also those that are checked out: a number is added. */
export async function targetOf(
  { git }: HostRepository,
  { name, commit, taken, isAncestor, signal }: Wanted,
): Promise<Target> {
  const format = '--format=%(refname) %(objectname) %(worktreepath)';
  const listed = (await git.text(['for-each-ref', format, BELOW], { signal })).split('\n');
  const branches = new Map(
    listed.map((line) => {
      const [ref = '', at = '', ...workTree] = line.split(' ');
      return [ref, { at, isCheckedOut: workTree.join(' ') !== '' }];
    }),
  );
  for (let number = 1; number <= MOST_NUMBERS; number++) {
    const branch = `paddock/${name}${number === 1 ? '' : `-${number}`}`;
    const there = branches.get(`refs/heads/${branch}`);
    if (taken.has(branch)) continue;
    if (there === undefined) return { branch, commit };
    if (there.isCheckedOut && there.at !== commit) continue;
    if (await isAncestor(there.at)) return { branch, commit, from: there.at };
  }
  throw new CliError(`there are too many branches paddock/${name}: remove some`);
}

interface Wanted {
  /** See `namePart`. */
  name: string;
  commit: string;
  /** Names that are given already. */
  taken: ReadonlySet<string>;
  /** Whether the new commit comes after this one. */
  isAncestor(commit: string): Promise<boolean>;
  signal: AbortSignal;
}

/** All or none; fails if one was moved meanwhile. */
export async function setBranches(
  { git }: HostRepository,
  targets: readonly Target[],
  signal: AbortSignal,
): Promise<void> {
  const lines = targets.map(({ branch, commit, from }) => {
    const none = '0'.repeat(commit.length);
    return `update refs/heads/${branch}\0${commit}\0${from ?? none}\0`;
  });
  const args = ['update-ref', '--stdin', '-z', '--create-reflog', '-m', 'paddock: commits of a sandbox'];
  await git.run(args, { input: lines.join(''), signal });
}
