import { type ByteString, fromText, quote } from '../../byte-string.ts';
import { parseFilePath } from '../../codebases/file-path.ts';
import type { ChosenHunks } from '../../contract/messages.ts';
import { invalidArgument, ServiceError } from '../../errors.ts';
import type { CommitChanges } from '../../services.ts';
import type { threadedChoice } from '../../text-tools/differ.ts';
import type { ChangeSelection, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { bytesOf, ChangeSides } from './change-sides.ts';
import type { PartChange } from './part-change.ts';
import { comparedWith, isComparedFile, undiffed } from './undiffed.ts';

/** Bytes of all the files of a request of which hunks are chosen: they are in memory until they are staged. */
const MAX_BYTES = 32 << 20;
/** A number of writes that no version of a file has: the sandbox's file stays a change of the one that is committed. */
const NEVER = -1;

/** The selection with the files of which hunks are chosen; with nothing else if the request names no paths. */
export function withHunkPaths(chosen: ChangeSelection, { paths, hunks = [] }: CommitChanges): ChangeSelection {
  if (hunks.length === 0) return chosen;
  const files = hunks.map(({ path }, index) => pathOf(path, index));
  const repeated = files.findIndex((path, index) => files.indexOf(path) !== index);
  if (repeated >= 0) throw invalidArgument(`hunks[${repeated}].path`, 'must be named once');
  return { ...chosen, paths: paths.length === 0 ? files : [...chosen.paths, ...files] };
}

const pathOf = (path: string, index: number): ByteString => fromText(parseFilePath(`hunks[${index}].path`, path).text);

/**
 * Replaces the changes of which a request chooses hunks by what it takes of them. What it took of the same versions before is
 * not made again: a commit looks several times, at last while programs wait.
 */
export class HunkParts {
  readonly #chosen: ReadonlyMap<ByteString, { choice: ChosenHunks; at: string }>;
  readonly #choose: ReturnType<typeof threadedChoice>;
  readonly #trees: Parameters<typeof ChangeSides.open>[1];
  readonly #isDryRun: boolean;
  /** By the versions of both sides. */
  #known = new Map<string, Uint8Array>();

  /** `isDryRun`: changes tell the size of their part only, and are asked for once. */
  constructor(
    hunks: readonly ChosenHunks[],
    choose: ReturnType<typeof threadedChoice>,
    trees: Parameters<typeof ChangeSides.open>[1],
    isDryRun = false,
  ) {
    this.#chosen = new Map(
      hunks.map((choice, index) => [pathOf(choice.path, index), { choice, at: `hunks[${index}]` }]),
    );
    this.#choose = choose;
    this.#trees = trees;
    this.#isDryRun = isDryRun;
  }

  /** Of the files of which hunks are chosen. */
  get paths(): ReadonlySet<ByteString> {
    return new Set(this.#chosen.keys());
  }

  /** `onConflict`: as in the request. A conflict without one is refused later, and stays whole until then. */
  async of(changes: WorkspaceChange[], onConflict: CommitChanges['on_conflict']): Promise<WorkspaceChange[]> {
    if (this.#chosen.size === 0) return changes;
    const indexes = new Map(changes.map(({ path }, index) => [path, index]));
    const chosen = [...this.#chosen].map(([path, choice]) => ({ change: changes[indexes.get(path) ?? -1], ...choice }));
    const inConflict = ({ conflict, origin, renamedFrom }: WorkspaceChange) =>
      conflict || (origin !== undefined && changes[indexes.get(renamedFrom!) ?? -1]?.conflict === true);
    let bytes = 0;
    for (const { change, choice, at } of chosen) {
      const problem = problemOf(change) ?? (onConflict === 'theirs' && inConflict(change!) ? GIVEN_UP : undefined);
      if (problem !== undefined)
        throw new ServiceError('FAILED_PRECONDITION', `${at}.path: ${quoted(choice.path)} ${problem}`);
      bytes += change!.now!.size + comparedWith(change!).base!.size;
    }
    if (bytes > MAX_BYTES)
      throw invalidArgument('hunks', `must be of files with at most ${MAX_BYTES} bytes in both versions together`);
    const taken = chosen.flatMap(({ change, choice, at }) =>
      onConflict === '' && inConflict(change!) ? [] : [{ change: change!, choice, at, versions: versionsOf(change!) }],
    );
    const parted = [...changes];
    await this.#make(taken, (change, part) => {
      parted[indexes.get(change.path)!] = partChange(change, part.length, this.#isDryRun ? undefined : part);
    });
    return parted;
  }

  async #make(taken: readonly Taken[], put: (change: WorkspaceChange, part: Uint8Array) => void): Promise<void> {
    const known = this.#known;
    this.#known = new Map();
    const missing = taken.filter(({ versions }) => !known.has(versions)).map(({ change }) => change);
    const sides = missing.length > 0 ? await ChangeSides.open(missing, this.#trees) : undefined;
    try {
      for (const { change, choice, at, versions } of taken) {
        const part = known.get(versions) ?? (await this.#partOf(change, choice, at, sides!));
        if (!this.#isDryRun) this.#known.set(versions, part);
        put(change, part);
      }
    } finally {
      await sides?.close();
    }
  }

  async #partOf(change: WorkspaceChange, choice: ChosenHunks, at: string, sides: ChangeSides): Promise<Uint8Array> {
    const [before, after] = [(await sides.base(comparedWith(change)))!, (await sides.present(change))!];
    return this.#choose(await bytesOf(before), await bytesOf(after), choice, at);
  }
}

interface Taken {
  change: WorkspaceChange;
  choice: ChosenHunks;
  at: string;
  versions: string;
}

/** Of the contents on both sides. */
function versionsOf(change: WorkspaceChange): string {
  const { path, base } = comparedWith(change);
  const { mode, size, mtime } = base!;
  return JSON.stringify([change.path, change.now!.version, change.now!.size, path, mode, size, mtime]);
}

function partChange(change: WorkspaceChange, size: number, part: Uint8Array | undefined): PartChange {
  const { hostFile: _, small: __, version, ...now } = change.now!;
  const { mode } = comparedWith(change).base!;
  return { ...change, ...(part && { part }), now: { ...now, mode, size, version: [version![0], NEVER] } };
}

const GIVEN_UP = 'is in conflict: with on_conflict "theirs" all of its changes would be lost';

const quoted = (path: string): string => quote(pathOf(path, 0));

function problemOf(change: WorkspaceChange | undefined): string | undefined {
  if (change === undefined) return 'is no change, or is left out';
  if (!isComparedFile(change)) return 'is no modified or renamed file: choose it by paths';
  // It has no inode that could keep what is not chosen.
  if (change.now!.version === undefined) return 'is in a directory that the sandbox renamed: choose it by paths';
  const reason = undiffed(change, 'owner')?.no_hunks;
  return reason && `has no hunks (${reason}): choose it by paths`;
}
