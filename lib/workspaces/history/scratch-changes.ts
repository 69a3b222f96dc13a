import { type ByteString, baseNameOf, joinPath, parentOf, ROOT_PATH, splitPath } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { isDirectory } from '../../linux/mode.ts';
import type { RuleState } from '../../permissions/index.ts';
import type { BaseStat } from '../base/base.ts';
import { type Inode, WHITEOUT } from '../delta/index/inode.ts';
import { ROOT_ID } from '../delta/index/inode-table.ts';
import type { LayeredWorkspace } from '../layered-workspace.ts';
import { modeOf, type Present, presentAt } from './present.ts';

/** Names examined in one step. */
const ITEMS_PER_STEP = 64;

/** The directory of an entry. */
export interface Parent {
  path: ByteString;
  now: Present | undefined;
  /** Its own difference from the base is scratch, if it has one. */
  asScratch: boolean;
  /** It is absent, and its removal is scratch. */
  goneAsScratch: boolean;
  rule: RuleState;
}

interface Entry {
  path: ByteString;
  now: Present | undefined;
  was: BaseStat | undefined;
  rule: RuleState;
}

/**
 * Whether a difference from the base at a path is scratch by the rules. These are not, because the codebase would be left
 * in a state that the sandbox was never in:
 *
 * - the removal of an entry with its directory, if that removal is a change
 * - what the codebase has in a directory that was renamed, unless the old path and the new one of the directory are scratch, too
 * - a directory in the place of a file
 *
 * `inPlace`: the directory shows the base's entries at this path.
 */
export function isScratch(workspace: LayeredWorkspace, parent: Parent, inPlace: boolean, entry: Entry): boolean {
  const { path, now, was, rule } = entry;
  if (!rule.scratch) return false;
  if (now === undefined) return parent.now === undefined ? parent.goneAsScratch : inPlace || parent.rule.scratch;
  const from = parent.now?.basePath;
  const moved = from !== undefined && from !== parent.path;
  const origin = moved ? joinPath(from, baseNameOf(path)) : path;
  // The codebase has it at the old path, where its removal is a change.
  if (moved && !parent.asScratch && workspace.base.lstat(origin) !== undefined) return false;
  if (now.basePath !== undefined && now.basePath !== path) {
    if (!workspace.stateOf(now.basePath).scratch) return false;
    return now.basePath === origin || leavesScratch(workspace, now.basePath);
  }
  return was === undefined || isDirectory(was.mode) || !isDirectory(modeOf(now));
}

/** Whether the absence of a renamed directory at its base path is scratch, which its path is. */
function leavesScratch(workspace: LayeredWorkspace, basePath: ByteString): boolean {
  const inode = workspace.delta.table.get(ROOT_ID);
  let dir: Present | undefined = { inode, base: undefined, basePath: ROOT_PATH };
  let path = ROOT_PATH;
  let rule = workspace.stateOf(ROOT_PATH);
  for (const name of splitPath(parentOf(basePath))) {
    const next: Present | undefined = dir && presentAt(workspace, dir, name);
    path = joinPath(path, name);
    rule = rule.child(name);
    dir = next && isDirectory(modeOf(next)) ? next : undefined;
    if (dir === undefined && !rule.scratch) return false;
  }
  return dir === undefined || dir.basePath === path || rule.scratch;
}

interface Frame {
  inode: Inode;
  rule: RuleState;
  names: Iterator<[ByteString, Inode | typeof WHITEOUT]>;
  isEmpty: boolean;
}

/** Finds new directories that are there for scratch only. Each directory is examined once. */
export class ScratchHolders {
  /** Whether it is empty, or has something that is not scratch. */
  readonly #counts = new Map<Inode, boolean>();

  /** Whether a directory that the base does not have, at a path that is not scratch, has entries, and only scratch. */
  *holdsOnlyScratch(top: Inode, rule: RuleState): Steps<boolean, undefined> {
    const known = this.#counts.get(top);
    if (known !== undefined) return !known;
    const counter = new StepCounter(ITEMS_PER_STEP);
    // The tree can be deeper than the stack, so there is no recursion.
    const stack = [open(top, rule)];
    for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
      if (counter.count()) yield;
      const next = frame.names.next();
      let counts = next.done ? frame.isEmpty && !frame.rule.scratch : false;
      if (next.done) {
        this.#counts.set(frame.inode, counts);
        stack.pop();
      } else if (next.value[1] !== WHITEOUT) {
        const [name, inode] = next.value;
        frame.isEmpty = false;
        const below = frame.rule.child(name);
        const answer = inode.isDirectory ? this.#known(inode) : !below.scratch;
        if (answer === undefined) stack.push(open(inode, below));
        counts = answer === true;
      }
      if (!counts) continue;
      for (const { inode } of stack) this.#counts.set(inode, true);
      return false;
    }
    return true;
  }

  /** A directory of the base that was renamed into this one counts. */
  #known(inode: Inode): boolean | undefined {
    return inode.origin === undefined ? this.#counts.get(inode) : true;
  }
}

function open(inode: Inode, rule: RuleState): Frame {
  return { inode, rule, names: inode.requireEntries().entries(), isEmpty: true };
}
