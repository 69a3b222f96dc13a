import type { Api } from '../api.ts';
import { type ChangeSelection, exportChanges, listChanges } from '../changes.ts';
import type { ChosenHunks, FileChange } from '../contract/messages.ts';
import { applyMember, applyRemoval, type Choice, type Outcome } from './apply.ts';
import { baseOf } from './base.ts';
import { Home, type Incoming, type Refusal } from './home.ts';
import { partsOf, removalsFor } from './hunks.ts';
import { shown } from './parent.ts';
import { Place } from './place.ts';
import { runsOnSight } from './programs.ts';
import { linkRefusal } from './refusals.ts';
import { Room, without } from './room.ts';
import { type Member, untar } from './untar.ts';
import { requireDirectory } from './walk.ts';

export interface PullOptions extends ChangeSelection {
  /** Local files that were edited, too, since they were brought in. "keep", the default: they stay; "replace": lost. */
  onConflict?: 'keep' | 'replace' | undefined;
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

export interface Pulled {
  /** Paths that were written or removed here. */
  applied: string[];
  /** Paths that have the sandbox's version already. */
  same: string[];
  /** Paths that were edited here, too, or cannot be written without following a symlink. They are as they were. */
  conflicts: string[];
  /**
   * What is not brought here: in a repository like `.git`, what would make a directory one, symlinks that lead out of the
   * directory; what would lose values that the sandbox saw as placeholders; what `maxBytes` has no room for; or is gone from the
   * sandbox. With `allow`: the path to be allowed for it.
   */
  skipped: ({ path: string } & Refusal)[];
  /** What the local file system refused, and names that are not UTF-8. It is as it was. */
  failed: { path: string; error: Error }[];
}

interface Target {
  sandboxId: string;
  codebaseId: string;
}

const MAX_BYTES = 1024 ** 3;

/**
 * Applies the changes of a sandbox to a local directory, which its codebase was made from. A path that is not here as
 * it is in the codebase was edited meanwhile: a conflict.
 */
export async function pull(api: Api, target: Target, directory: string, options: PullOptions): Promise<Pulled> {
  await requireDirectory(directory);
  const {
    onConflict = 'keep',
    git = false,
    dryRun = false,
    maxBytes = MAX_BYTES,
    only,
    allow = [],
    hunks = [],
    ...choice
  } = options;
  const selection = withPathsOf(hunks, choice, only !== undefined);
  const origin = { api, ...target, signal: options.signal };
  const parts = await partsOf(hunks, origin);
  const removals = new Map((await removalsFor(parts, origin)).map((change) => [change.path, change]));
  const others = await listChanges(api, target.sandboxId, selection);
  const listed = [...others.filter(({ path }) => !removals.has(path)), ...removals.values()];
  const choiceOf = (change: FileChange): Choice => ({
    base: () => baseOf(origin, change),
    replace: onConflict === 'replace',
    dryRun,
  });
  const named = selection.paths?.filter((path) => runsOnSight(path) !== undefined) ?? [];
  const home = new Home(directory, { git, allow: [...allow, ...named] });
  const isChosen = (path: string) => parts.has(path) || removals.has(path) || (only?.(path) ?? true);
  const refusals = await refusalsOf(home, listed, isChosen);
  const changes = new Changes(directory, listed, { refusals, only: isChosen, choiceOf, parts });
  const left = changes.limit(maxBytes);
  if (changes.hasContents) {
    const fitting =
      left.length === 0 ? selection : { ...selection, exclude: [...(selection.exclude ?? []), ...without(left)] };
    const archive = await exportChanges(api, target.sandboxId, fitting, { format: 'tar', whole: false });
    await changes.write(untar(archive.body as ReadableStream<Uint8Array>), new Room(maxBytes));
  }
  await changes.remove();
  return changes.result();
}

/** The files of which hunks are chosen are among the selected ones; alone, if nothing else is. */
function withPathsOf(hunks: readonly ChosenHunks[], selection: ChangeSelection, chooses: boolean): ChangeSelection {
  if (hunks.length === 0 || (chooses && selection.paths === undefined)) return selection;
  return { ...selection, paths: [...(selection.paths ?? []), ...hunks.map(({ path }) => path)] };
}

const TYPES: Readonly<Record<string, Incoming['type']>> = { TYPE_DIRECTORY: 'directory', TYPE_SYMLINK: 'symlink' };

/** Those of the chosen changes, in their order. */
async function refusalsOf(
  home: Home,
  listed: readonly FileChange[],
  only: NonNullable<PullOptions['only']>,
): Promise<ReadonlyMap<string, Refusal>> {
  const found = new Map<string, Refusal>();
  for (const change of listed) {
    const { path, kind, type } = change;
    if (!only(path)) continue;
    const refusal =
      (kind === 'CHANGE_DELETED'
        ? await home.removal(path, type === 'TYPE_DIRECTORY')
        : await home.refusal({ path, type: TYPES[type] ?? 'file' })) ?? home.loss(change);
    if (refusal) found.set(path, refusal);
  }
  return found;
}

/** The changes, and what has become of each of them. */
class Changes {
  readonly #directory: string;
  readonly #choiceOf: (change: FileChange) => Choice;
  readonly #parts: Awaited<ReturnType<typeof partsOf>>;
  readonly #written = new Map<string, FileChange>();
  readonly #removed = new Map<string, FileChange>();
  /** Paths of #written by the path that was renamed, and by their form without upper and lower case. */
  readonly #renamed = new Map<string, string>();
  readonly #folded = new Map<string, string>();
  readonly #done = new Map<string, Outcome>();
  readonly #pulled: Pulled = { applied: [], same: [], conflicts: [], skipped: [], failed: [] };

  constructor(
    directory: string,
    listed: readonly FileChange[],
    {
      refusals,
      only,
      choiceOf,
      parts,
    }: {
      refusals: ReadonlyMap<string, Refusal>;
      only: NonNullable<PullOptions['only']>;
      choiceOf: (change: FileChange) => Choice;
      parts: Awaited<ReturnType<typeof partsOf>>;
    },
  ) {
    this.#directory = directory;
    this.#choiceOf = choiceOf;
    this.#parts = parts;
    for (const change of listed) {
      const { path, kind } = change;
      // Also of one that is not chosen: its contents may be only at the old path, which then stays.
      if (change.renamedFrom) this.#renamed.set(change.renamedFrom, path);
      if (!only(path)) continue;
      const refusal = refusals.get(path);
      if (refusal !== undefined) this.#pulled.skipped.push({ path, ...refusal });
      // Of names that are not UTF-8, several have this one.
      else if (path.includes('\ufffd')) this.#fail(path, new Error('its name is not UTF-8'));
      else if (kind === 'CHANGE_DELETED') this.#removed.set(path, change);
      else {
        this.#written.set(path, change);
        this.#folded.set(folded(path), path);
      }
    }
  }

  get hasContents(): boolean {
    return this.#written.size > 0;
  }

  /** Leaves files out that do not fit, and returns them. */
  limit(maxBytes: number): FileChange[] {
    const room = new Room(maxBytes);
    const files = [...this.#written.values()].filter(({ type }) => type === 'TYPE_FILE');
    return files.filter(({ path, size }) => {
      const refusal = room.take(size);
      if (refusal) this.#skip(path, refusal);
      return refusal !== undefined;
    });
  }

  /** `room`: files may have grown since they were listed. */
  async write(members: AsyncIterable<Member>, room: Room): Promise<void> {
    for await (const member of members) {
      const { path, type } = member;
      const change = this.#written.get(path);
      if (change === undefined || this.#done.has(path)) continue;
      const reason = type === 'symlink' ? linkRefusal(path, member.target) : undefined;
      const refusal = reason === undefined ? room.take(member.size) : { reason };
      if (refusal !== undefined) this.#skip(path, refusal);
      else {
        const clear = () => this.remove(`${path}/`);
        const taken = await this.#part(member);
        await this.#ended(path, (place) => applyMember(place, taken, this.#choiceOf(change), clear));
      }
    }
    for (const path of this.#written.keys()) {
      const reason =
        'it was not in the archive: the sandbox changed it meanwhile, or it is of no type that archives have';
      if (!this.#done.has(path)) this.#skip(path, { reason });
    }
  }

  /** The member, or what is taken of it. */
  async #part(member: Member): Promise<Member> {
    const part = this.#parts.get(member.path);
    if (part === undefined) return member;
    const content = await part.content();
    return { ...member, mode: part.mode, size: content.length, content: once(content) };
  }

  /** After the contents, so that nothing is lost if they do not arrive; from the bottom up. */
  async remove(below = ''): Promise<void> {
    for (const [path, change] of [...this.#removed].reverse()) {
      if (!path.startsWith(below) || this.#done.has(path)) continue;
      if (await this.#isNeeded(path)) this.#end(path, 'conflicts');
      else await this.#ended(path, (place) => applyRemoval(place, this.#choiceOf(change)));
    }
  }

  /** Whether the contents are only here: their new path was not written; or has the same file, in another case. */
  async #isNeeded(path: string): Promise<boolean> {
    const renamed = this.#renamed.get(path);
    if (renamed !== undefined && !['applied', 'same'].includes(this.#done.get(renamed) ?? '')) return true;
    const other = this.#folded.get(folded(path));
    if (other === undefined) return false;
    const [identity, otherIdentity] = [await this.#identityOf(path), await this.#identityOf(other)];
    return identity !== undefined && identity === otherIdentity;
  }

  #identityOf(path: string): Promise<string | undefined> {
    return Place.use(this.#directory, path, { use: (place) => place.identity(), otherwise: undefined });
  }

  async #ended(path: string, apply: (place: Place) => Promise<Outcome>): Promise<void> {
    try {
      this.#end(path, await Place.use(this.#directory, path, { use: apply, otherwise: 'conflicts' }));
    } catch (error) {
      // Only errors of the local file system name a system call.
      const { code = '', syscall } = error as { code?: string; syscall?: string };
      if (syscall === undefined) throw error;
      // A directory here that has files of its own.
      if (['ENOTEMPTY', 'EEXIST', 'EISDIR'].includes(code)) this.#end(path, 'conflicts');
      else this.#fail(path, error as Error);
    }
  }

  #fail(path: string, error: Error): void {
    this.#done.set(path, 'conflicts');
    this.#pulled.failed.push({ path, error: shown(error) });
  }

  #end(path: string, outcome: Outcome): void {
    this.#done.set(path, outcome);
    this.#pulled[outcome].push(path);
  }

  #skip(path: string, refusal: Refusal): void {
    this.#done.set(path, 'conflicts');
    this.#pulled.skipped.push({ path, ...refusal });
  }

  result(): Pulled {
    const { applied, same, conflicts, skipped, failed } = this.#pulled;
    for (const list of [applied, same, conflicts]) list.sort();
    for (const list of [skipped, failed]) list.sort((a, b) => (a.path < b.path ? -1 : 1));
    return this.#pulled;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, void> {
  yield bytes;
}

/** Where upper and lower case are one. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();
