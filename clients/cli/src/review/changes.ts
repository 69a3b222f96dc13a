import type { FileChange } from 'paddock-sandbox';
import { runsOnSight, runsOnUse } from '../../../../local-refusals/programs.ts';
import type { Options } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import type { Output } from '../output/output.ts';
import { quotedName } from '../output/printable.ts';

/** What of a sandbox comes home although tools run it. */
export const HOME_OPTIONS = {
  git: { help: 'also changes in .git, except those by which git would run programs' },
  take: {
    multiple: true,
    value: 'PATH',
    help: 'also this path, although tools run it on sight (.envrc), or values are lost (.env)',
  },
} as const satisfies Options;

/** Options that choose changes. */
export const CHOICE_OPTIONS = {
  exclude: { multiple: true, value: 'GLOB', help: 'not these paths' },
  scratch: { help: 'also what was written at scratch paths' },
} as const satisfies Options;

interface Choice {
  exclude?: readonly string[] | undefined;
  scratch?: boolean | undefined;
}

export const choiceOf = (paths: readonly string[], { exclude, scratch }: Choice) => ({
  ...(paths.length > 0 && { paths: paths.map(relative) }),
  ...(exclude && { exclude }),
  ...(scratch && { includeScratch: true }),
});

/** Paths may be those of commands. */
const relative = (path: string): string => path.replace(/^\/workspace(?=\/|$)/, '').replace(/^(\.?\/)+/, '');

/** Paths of --take: nothing is all that is below the directory. */
export function takenPaths(paths: readonly string[] = []): string[] {
  const found = paths.map(relative);
  if (found.includes('')) throw new UsageError('--take is the path of a file or directory, not of all of them');
  return found;
}

const LETTERS = { added: 'A', modified: 'M', deleted: 'D' } as const;

/** "M src/main.ts" */
export function changeLine(change: FileChange, { green, red, yellow }: Output['paint']): string {
  const letter = LETTERS[change.kind];
  const painted = { A: green, M: yellow, D: red }[letter](letter);
  const slash = change.type === 'directory' ? '/' : '';
  const from = change.renamedFrom ? ` (was ${quotedName(change.renamedFrom)})` : '';
  return `${painted} ${quotedName(change.path)}${slash}${from}${change.conflict ? ' (conflict)' : ''}`;
}

/** The same for a review: also what runs the file here. */
export const reviewLine = (change: FileChange, paint: Output['paint']): string =>
  `${changeLine(change, paint)}${runMark(change, paint)}`;

/** " [runs on your machine: npm]", or what else asks for a look; empty: nothing. */
export function runMark({ kind, path, losesValues }: FileChange, paint: Output['paint']): string {
  if (losesValues) return paint.red(' [loses values that the sandbox did not see]');
  const sight = kind === 'deleted' ? undefined : runsOnSight(path);
  if (sight) return paint.red(` [${sight.tool} runs it on sight]`);
  const use = kind === 'deleted' ? undefined : runsOnUse(path);
  return use ? paint.yellow(` [runs on your machine: ${use.tool}]`) : '';
}

/** Number of paths: "1 change", "2 changes". */
export const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
