import type { Api } from '../api.ts';
import { type ChangeSelection, chosen, exportChanges, isSelection, listChanges } from '../changes.ts';
import type { ChosenHunks, FileChange, LocalRefusal } from '../contract/messages.ts';
import { operations } from '../contract/operations.ts';
import { ConflictError } from '../errors.ts';
import { apart, argumentsOf } from '../http/arguments.ts';
import { invalid } from '../invalid.ts';
import { Changes, type Pulled } from './changes.ts';
import { partsOf, removalsFor } from './hunks.ts';
import { Layout } from './layout.ts';
import { Links } from './links.ts';
import { type Asked, isPath, type Refusal, refusalFor } from './refusal.ts';
import { mayBeMoved, Renames } from './renames.ts';
import { Room, without } from './room.ts';
import { turns } from './turns.ts';
import { untar } from './untar.ts';
import { requireDirectory } from './walk.ts';

export interface PullOptions extends ChangeSelection {
  /**
   * Local files that were edited, too, since they were brought in. "keep", the default: they stay; "replace": lost;
   * "raise": ConflictError, and nothing is written.
   */
  onConflict?: 'keep' | 'replace' | 'raise' | undefined;
  /**
   * Also changes in `.git`, except those by which git would run programs: hooks, configuration, symlinks and the like.
   * By default all are left out.
   */
  git?: boolean | undefined;
  /**
   * Paths that are brought, each with everything below, although tools run them on sight (`['.envrc']`; one that is named in
   * `paths` is, too), or values are lost that the sandbox saw as placeholders (`['.env']`). By default they are left out.
   */
  allow?: readonly string[] | undefined;
  /** Chooses paths one by one, besides `paths` and `exclude`; what is in a directory is asked for by itself. */
  only?: ((path: string) => boolean) | undefined;
  /**
   * Modified or renamed files of which only some hunks are brought, as `changes({ diff: true })` showed them. Without `paths` and
   * `only` nothing else is, but for the removal of the old path of a renamed one.
   */
  hunks?: readonly ChosenHunks[] | undefined;
  /** Bytes of contents that may come. A file that does not fit, in the order of paths, is left out. Default: 1 GiB. */
  maxBytes?: number | undefined;
  /** Change nothing, and only report. */
  dryRun?: boolean | undefined;
}

interface Target {
  sandboxId: string;
  codebaseId: string;
}

/** A misspelt 'raise' would write where nothing was to be written. */
const OWN = {
  ...{ onConflict: 'one keep|replace|raise', git: 'boolean', allow: 'strings', only: 'function', hunks: 'objects' },
  ...{ maxBytes: 'integer 0', dryRun: 'boolean' },
} as const;

const MAX_BYTES = 1024 ** 3;

/** A pull that can begin. Throws InvalidArgumentError for one that cannot. */
export async function pulling(
  api: Api,
  target: Target,
  directory: string,
  options: PullOptions,
): Promise<() => Promise<Pulled>> {
  await requireDirectory(directory);
  const [{ allow = [] }, choice] = apart(options, OWN);
  if (allow.includes('')) throw invalid('allow must be a list of paths that are not empty');
  const given = { sandboxId: target.sandboxId, format: 'tar', as: undefined, diff: undefined, local: undefined };
  argumentsOf('exportChanges', operations.exportChanges, given, chosen(choice));
  return () => pull(api, target, directory, options);
}

/**
 * Applies the changes of a sandbox to a local directory, which its codebase was made from: those that the server does not
 * refuse, where the directory has what the codebase has. What it has otherwise was edited meanwhile: a conflict.
 */
async function pull(api: Api, target: Target, directory: string, options: PullOptions): Promise<Pulled> {
  const [own, choice] = apart(options, OWN);
  const { onConflict = 'keep', git = false, dryRun = false, maxBytes = MAX_BYTES, allow = [], hunks = [] } = own;
  const only = own.only && answered(own.only);
  const selection = withPathsOf(hunks, choice, only !== undefined);
  const origin = { api, ...target, signal: options.signal };
  const parts = await partsOf(hunks, origin);
  const removals = new Map((await removalsFor(parts, origin)).map((change) => [change.path, change]));
  const others = await listChanges(api, target.sandboxId, { ...selection, local: true });
  const listed = [...others.filter(({ path }) => !removals.has(path)), ...removals.values()];
  const isChosen = (path: string) => parts.has(path) || removals.has(path) || (only?.(path) ?? true);
  const brought = listed.filter(({ path }) => isChosen(path));
  const { includeScratch, signal } = selection;
  const lists = isSelection(selection) && brought.some(mayBeMoved);
  const all = lists ? await listChanges(api, target.sandboxId, { includeScratch, signal }) : listed;
  const renames = new Renames(all, (path) => parts.has(path));
  const halves = renames.halves(new Set(brought.map(({ path }) => path)));
  const whole = brought.filter(({ path }) => !halves.has(path));
  const writes = brought.some(({ kind }) => kind !== 'deleted');
  const links = await Links.of(directory, { enters: () => writes, signal });
  const asked = { git, allow: [...allow, ...namedIn(selection.paths, whole, links)] };
  const refusals = new Map([...halves, ...(await refusalsOf(directory, whole, { links, asked, signal }))]);
  const which = { refusals, isChosen, parts, renames, replace: onConflict === 'replace' };
  const changes = new Changes(directory, listed, which, options.signal);
  try {
    const left = changes.limit(maxBytes);
    const found = await changes.decide();
    if (onConflict === 'raise' && found.conflicts.length > 0) throw conflict(found.conflicts);
    if (dryRun) return found;
    const exclude = [...(selection.exclude ?? []), ...without(left)];
    await apply(changes, api, target, { ...selection, ...(exclude.length > 0 && { exclude }) }, maxBytes);
    return changes.result();
  } finally {
    changes.close();
  }
}

async function apply(
  changes: Changes,
  api: Api,
  { sandboxId }: Target,
  selection: ChangeSelection,
  maxBytes: number,
): Promise<void> {
  const room = new Room(maxBytes);
  changes.sweep();
  for (const last of [false, true]) {
    const needed = changes.needed({ last });
    if (needed.length === 0) continue;
    const archive = await exportChanges(api, sandboxId, selection, { format: 'tar', whole: false });
    await changes.write(needed, untar(archive.body as ReadableStream<Uint8Array>), room);
  }
  await changes.remove();
}

/** What is no answer, like the promise of an async function, is not taken for one. */
const answered = (only: NonNullable<PullOptions['only']>) => (path: string) => {
  const answer: unknown = only(path);
  if (typeof answer === 'boolean') return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw invalid('only must return true or false');
};

function conflict(paths: readonly string[]): ConflictError {
  const message = `edited locally since they were brought in: ${paths.slice(0, 10).join(', ')}`;
  return new ConflictError({ code: 'ABORTED', message }, paths);
}

/** The files of which hunks are chosen are among the selected ones; alone, if nothing else is. */
function withPathsOf(hunks: readonly ChosenHunks[], selection: ChangeSelection, chooses: boolean): ChangeSelection {
  if (hunks.length === 0 || (chooses && selection.paths === undefined)) return selection;
  return { ...selection, paths: [...(selection.paths ?? []), ...hunks.map(({ path }) => path)] };
}

/** Chosen paths that are themselves what must be allowed by name; for lost values, it does not suffice to choose them. */
function namedIn(paths: readonly string[] = [], listed: readonly FileChange[], links: Links): string[] {
  const asking = paths.length === 0 ? [] : listed.filter(({ path, losesValues }) => isPath(path) && !losesValues);
  const needed = new Set(asking.flatMap((change) => judged(change, links).map(({ allow }) => allow)));
  needed.delete('');
  const isNeeded = (path: string) =>
    path.split('/').some((_, at, names) => needed.has(names.slice(0, at + 1).join('/')));
  return paths.filter(isNeeded);
}

/** By its name, as the server says, and by the symlinks that are here. */
function judged({ path, kind, type, local }: FileChange, links: Links): LocalRefusal[] {
  const found = [local?.refusal, kind === 'deleted' ? undefined : links.refusal(path, type, local?.linkTarget)];
  return found.filter((each) => each !== undefined);
}

/** In the order of the changes. */
async function refusalsOf(
  directory: string,
  listed: readonly FileChange[],
  { links, asked, signal }: { links: Links; asked: Asked; signal: AbortSignal | undefined },
): Promise<ReadonlyMap<string, Refusal>> {
  const layout = new Layout(directory);
  const turn = turns(signal);
  const found = new Map<string, Refusal>();
  for (const change of listed) {
    await turn();
    const { path, kind, local } = change;
    const unknown = local ? undefined : 'the server did not say whether it may come';
    const never = isPath(path) ? unknown : 'not a path below the directory';
    const left = never === undefined ? judged(change, links).map((each) => refusalFor(path, each, asked)) : [];
    const refusal = never === undefined ? left.find((each) => each !== undefined) : { reason: never };
    const reason = refusal ? undefined : layout.refusal(path, kind === 'deleted');
    if (refusal || reason !== undefined) found.set(path, refusal ?? { reason: reason! });
  }
  return found;
}
