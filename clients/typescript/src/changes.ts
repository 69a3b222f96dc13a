import type { Api } from './api.ts';
import type { ChosenHunks, CommitResponse, FileChange } from './contract/messages.ts';
import { joined } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { invalid } from './invalid.ts';

/** Which changes. */
export interface ChangeSelection extends CallOptions {
  /** Only at these paths, each with everything below it. Absent: everywhere. An empty list is refused. */
  paths?: readonly string[] | undefined;
  /** Not at the paths that these globs match. */
  exclude?: readonly string[] | undefined;
  /** Also what was written at scratch paths. */
  includeScratch?: boolean | undefined;
}

export interface ShownChanges extends ChangeSelection {
  /** "agent": only what the rules show to the sandbox's commands. */
  as?: 'agent' | 'owner' | undefined;
  /** Compare modified and renamed files by lines: `diff` of their changes. */
  diff?: boolean | undefined;
  /** For a program that writes the changes to a local directory itself: `local` of them, as `pull` uses it. */
  local?: boolean | undefined;
}

export interface CommitOptions extends ChangeSelection {
  /** "ours": the sandbox's version wins; "theirs": the codebase's. Otherwise a conflict is a ConflictError. */
  onConflict?: 'ours' | 'theirs' | undefined;
  /**
   * Modified or renamed files of which only some hunks are taken, as `changes({ diff: true })` showed them; `chosenHunks` makes one.
   * Without `paths` nothing else is committed.
   */
  hunks?: readonly ChosenHunks[] | undefined;
  /** Only report what would be committed. */
  dryRun?: boolean | undefined;
}

/** A choice of hunks, by index from 0, of a change that was listed with `diff`. Throws InvalidArgumentError if it has none. */
export function chosenHunks({ path, diff }: FileChange, indexes: readonly number[]): ChosenHunks {
  if (diff?.noHunks !== '') throw invalid(`${path} has no hunks: list the changes with diff, or choose its path`);
  return { path, baseSha256: diff.baseSha256, sha256: diff.sha256, indexes };
}

/** The contract has no empty list of paths: it would be everything. Throws InvalidArgumentError. */
export function chosen<T extends ChangeSelection>(selection: T): T {
  if (selection.paths?.length === 0)
    throw invalid('paths must be a list with at least one path; leave it out for all changes');
  return selection;
}

/** Whether it may leave changes out. */
export const isSelection = ({ paths, exclude, hunks }: Pick<CommitOptions, 'paths' | 'exclude' | 'hunks'>): boolean =>
  [paths, exclude, hunks].some((each) => each !== undefined && each.length > 0);

export async function listChanges(api: Api, sandboxId: string, selection: ShownChanges): Promise<FileChange[]> {
  return all(api.listChanges({ sandboxId }, chosen(selection)));
}

export async function all<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of elements) found.push(each);
  return found;
}

/** `whole`: the answer is read to its end before this resolves. */
export async function exportChanges(
  api: Api,
  sandboxId: string,
  selection: ShownChanges,
  { format, whole }: { format: 'patch' | 'tar'; whole: boolean },
): Promise<Response> {
  return api.exportChanges({ sandboxId, format }, joined(chosen(selection), { whole }));
}

export async function commitChanges(api: Api, sandboxId: string, options: CommitOptions): Promise<CommitResponse> {
  return api.commit({ sandboxId }, chosen(options));
}
