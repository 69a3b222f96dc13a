import { type ByteString, parentOf } from '../../byte-string.ts';
import { isDirectory } from '../../linux/mode.ts';
import { sorting } from '../../long-lists.ts';
import type { OwnDirectory, RebasedPath, WorkspaceChange } from '../../workspaces/workspaces.ts';
import { settledDirectories } from './settled-directories.ts';

const CHANGES_PER_STEP = 256;

/** Of a commit, beside its changes. */
interface Beside {
  /** The sandbox's directories above these show the base's from then on, as above those that are committed. */
  reverted?: readonly ByteString[];
  /** Directories that replace the base's without a change: they show it from then on, with what it got in them since. */
  equal?: ReadonlySet<ByteString>;
}

const NONE: ReadonlySet<ByteString> = new Set();

/** The paths to rebase after a commit, with their parent directories, which may be new in the base; in steps. */
export function* rebasing(
  changes: readonly WorkspaceChange[],
  own: readonly OwnDirectory[],
  { reverted = [], equal = NONE }: Beside = {},
): Generator<undefined, readonly RebasedPath[], void> {
  const rebased = new Map<ByteString, RebasedPath>();
  const made = new Set<ByteString>();
  // All parents of a path in the map are in the map, too.
  const addParents = (path: ByteString) => {
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
      if (rebased.has(parent)) break;
      rebased.set(parent, { path: parent });
    }
  };
  for (const [index, { path, now, base, kind }] of changes.entries()) {
    if (now !== undefined && (kind === 'added' || !isDirectory(base!.mode))) made.add(path);
    addParents(path);
    const version = now?.version;
    rebased.set(path, {
      path,
      removed: now === undefined,
      ...(version ? { version } : made.has(path) && { made: true }),
    });
    if (index % CHANGES_PER_STEP === 0) yield;
  }
  for (const [index, path] of reverted.entries()) {
    addParents(path);
    if (index % CHANGES_PER_STEP === 0) yield;
  }
  // A new parent directory is made with another mode than the sandbox's, which remains a change.
  const settled = yield* settledDirectories(own, (path) => rebased.has(path), equal);
  for (const { id, path, replaces } of settled) {
    addParents(path);
    rebased.set(path, { path, version: [id, 0], ...(!replaces && { made: true }) });
    yield;
  }
  return yield* sorting([...rebased.values()], (a, b) => (a.path < b.path ? -1 : 1));
}
