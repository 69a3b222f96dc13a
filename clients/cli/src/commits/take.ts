import type { Sandbox } from 'paddock-sandbox';
import type { Context } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { printableName, quotedName } from '../output/printable.ts';
import { ask } from '../review/ask.ts';
import { counted } from '../review/changes.ts';
import type { Target } from './branches.ts';
import { repositoryOf } from './host.ts';
import { Commits } from './new-commits.ts';

type Asking = Pick<Context, 'out' | 'env' | 'signal'>;

/** Commits that came home. */
export interface Came {
  branch: string;
  commit: string;
  count: number;
}

/**
 * The commits of a running sandbox that the repository of the directory has not. Throws CliError if there is none, and
 * GitError for objects that are refused.
 */
export async function findCommits(
  sandbox: Sandbox,
  { directory, allow }: { directory: string; allow: readonly string[] },
  { env, signal }: Pick<Asking, 'env' | 'signal'>,
): Promise<Commits | undefined> {
  const host = await repositoryOf(directory, { path: env.PATH, signal });
  if (host === undefined) throw new CliError(`${printableName(directory)} is not the top of a repository of git`);
  return Commits.of(sandbox, host, { allow, signal });
}

/** Lists the commits, and says what is left out of them, or in their way. */
export function showCommits({ branches, contents }: Commits, { out }: Pick<Asking, 'out'>): void {
  const { bold, dim, red, yellow } = out.paintError;
  for (const { label, count, lines } of branches) {
    out.note(bold(`${counted(count, 'commit')} on ${quotedName(label)} of the sandbox:`));
    for (const line of lines) out.note(`  ${printableName(line)}`);
    if (count > lines.length) out.note(dim(`  … ${count - lines.length} more`));
  }
  const { submodules, refused } = contents;
  if (submodules.length > 0)
    out.note(`${yellow('left out')} commits of ${counted(submodules.length, 'submodule')}: ${listOf(submodules)}`);
  for (const { path, reason, allow } of refused.slice(0, MOST_SHOWN)) {
    const when = allow === undefined ? '' : ', once the branch is checked out';
    out.note(`${red('they change')} ${quotedName(path)}: ${printableName(reason)}${when}`);
  }
  if (refused.length > MOST_SHOWN) out.note(dim(`… ${refused.length - MOST_SHOWN} more`));
}

const MOST_SHOWN = 20;
const listOf = (paths: readonly string[]): string => paths.slice(0, MOST_SHOWN).map(quotedName).join(', ');

/** Asks on the terminal. */
export async function wantsCommits(commits: Commits, { out, signal }: Asking): Promise<boolean> {
  const targets = await commits.targets(signal);
  const names = targets.map(({ branch }) => branch).join(', ');
  const question = `${out.paintError.bold(`Take these commits as ${names}?`)} Nothing is checked out. [y]es, [n]o: `;
  return (await ask(question, ['yes', 'no'], signal)) === 'yes';
}

/** Without a question. Says what they would need to come; undefined: nothing. */
export function refusalOf({ contents: { refused } }: Commits, asked: boolean): string | undefined {
  const never = refused.some(({ allow }) => allow === undefined);
  if (!never && (asked || refused.length === 0)) return undefined;
  const options = refused.slice(0, MOST_SHOWN).map(({ path }) => `--take ${quotedName(path)}`);
  return `the commits are left out, because of what they change${never ? '' : `; ${options.join(' ')} brings them`}`;
}

export async function takeCommits(commits: Commits, { out, signal }: Asking): Promise<Came[]> {
  const targets = await commits.targets(signal);
  await commits.take(targets, signal);
  return commits.branches.map(({ count }, at) => {
    const { branch, commit } = targets[at] as Target;
    const base = /^[\w./-]+$/.test(commits.host.current) ? commits.host.current : 'HEAD';
    out.note(`${counted(count, 'commit')}: branch ${branch} (git log -p ${base}..${branch})`);
    return { branch, commit, count };
  });
}
