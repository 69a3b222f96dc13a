import { type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { Postponed } from '../../fuse/filesystem.ts';
import { dividedIfLarge, type LargeMap } from '../delta/index/divided-map.ts';

/** Paths examined in one step. */
const ITEMS_PER_STEP = 64;

/** Whether the path itself is removed, or only something below it. */
type Marks = LargeMap<ByteString, boolean>;

/**
 * Base paths that a change removes from a codebase, from the last copies of what directories that a sandbox moved show of them,
 * until they are gone. A directory that is moved in that time would lose what nobody removed in its sandbox. So its move waits,
 * and comes after the removal.
 *
 * Programs in a move have locks of the kernel: until `end`, the change must not wait for notifications.
 */
export class LeavingPaths {
  /** The cause that moves wait for; 0: nothing is being removed. */
  #cause = 0;
  /** The workspace whose commit it is, whose own moves need not wait. */
  #by: string | undefined;
  /** undefined: any path. */
  #marks: Marks | undefined;

  /**
   * Of one change; `cause` is released by the caller after `end`. `anyPath`: moves of all directories wait, so that the paths need
   * not be examined.
   */
  *begin(paths: readonly ByteString[], by: string | undefined, cause: number, anyPath: boolean): Steps<void> {
    this.#cause = cause;
    this.#by = by;
    this.#marks = undefined;
    if (!anyPath) this.#marks = yield* marksOf(paths);
  }

  /** Returns the cause that moves wait for since `begin`; 0: none. */
  end(): number {
    const cause = this.#cause;
    this.#cause = 0;
    this.#marks = undefined;
    return cause;
  }

  /** Called before `workspace` moves the directory that shows a base directory. Throws Postponed. */
  requireStays(directory: ByteString, workspace: string): void {
    if (this.#cause === 0 || this.#by === workspace) return;
    if (this.#marks === undefined || concerns(this.#marks, directory)) throw new Postponed(this.#cause);
  }
}

function* marksOf(paths: readonly ByteString[]): Steps<Marks> {
  const counter = new StepCounter(ITEMS_PER_STEP);
  let marks: Marks = new Map();
  for (const path of paths) {
    marks.set(path, true);
    for (let at = parentOf(path); at !== ROOT_PATH && !marks.has(at); at = parentOf(at)) marks.set(at, false);
    marks = dividedIfLarge(marks);
    if (counter.count()) yield;
  }
  return marks;
}

/** Whether something at, below or above the directory is removed. */
function concerns(marks: Marks, directory: ByteString): boolean {
  if (marks.has(directory)) return true;
  for (let at = parentOf(directory); at !== ROOT_PATH; at = parentOf(at)) if (marks.get(at)) return true;
  return marks.get(ROOT_PATH) === true;
}
