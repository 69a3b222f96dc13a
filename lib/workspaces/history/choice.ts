import { type ByteString, parentOf, ROOT_PATH } from '../../byte-string.ts';
import { StepCounter, type Steps } from '../../fuse/connection/steps.ts';
import { compilingExcluded, isMatched, type RuleSet, type RuleState } from '../../permissions/index.ts';
import { Subtrees } from '../../subtrees.ts';
import type { BaseStat } from '../base/base.ts';
import type { ChangeSelection, WorkspaceChange } from '../workspaces.ts';
import type { Present } from './present.ts';
import { ScratchHolders } from './scratch-changes.ts';

/** Paths prepared in one step. */
const ITEMS_PER_STEP = 64;

/** An entry that differs from the base, or may. */
export interface Examined {
  path: ByteString;
  now: Present | undefined;
  was: BaseStat | undefined;
  rule: RuleState;
  excluded: RuleState | undefined;
  scratch: boolean;
}

/** Which changes a caller asks for; see `ChangeSelection`. */
export class Choice {
  /** What is written at scratch paths is left out. */
  readonly #leavesScratch: boolean;
  readonly #holders = new ScratchHolders();
  /** See `isMatched`. */
  readonly excluded: RuleState | undefined;
  readonly #covered: Subtrees | undefined;
  readonly #above: ReadonlySet<ByteString>;

  private constructor(
    leavesScratch: boolean,
    excluded: RuleState | undefined,
    covered: Subtrees | undefined,
    above: ReadonlySet<ByteString>,
  ) {
    this.#leavesScratch = leavesScratch;
    this.excluded = excluded;
    this.#covered = covered;
    this.#above = above;
  }

  /** In steps: a request may have 10,000 paths. */
  static *making({ paths, exclude, scratch }: ChangeSelection, rules: RuleSet): Steps<Choice, undefined> {
    const excluded = yield* compilingExcluded(exclude);
    const leavesScratch = !scratch && rules.hasScratch;
    if (paths.includes(ROOT_PATH)) return new Choice(leavesScratch, excluded, undefined, new Set());
    const counter = new StepCounter(ITEMS_PER_STEP);
    const above = new Set<ByteString>();
    for (const path of paths) {
      // The parents of a known directory are known, too.
      for (let at = parentOf(path); at !== ROOT_PATH && !above.has(at); at = parentOf(at)) above.add(at);
      if (counter.count()) yield;
    }
    return new Choice(leavesScratch, excluded, new Subtrees(paths), above);
  }

  /** Why the path is left out; undefined: it is chosen; 'unsure': `leftOfNew` tells. */
  leftOut({ path, now, was, rule, excluded, scratch }: Examined): WorkspaceChange['left'] | 'unsure' {
    if (this.#covered?.has(path) === false || isMatched(excluded)) return 'excluded';
    if (!this.#leavesScratch) return undefined;
    if (scratch) return 'scratch';
    const isNew = was === undefined && now?.inode?.isDirectory === true && now.basePath === undefined;
    return isNew && !rule.scratch ? 'unsure' : undefined;
  }

  /** As `leftOut`, of a new directory: one that holds only scratch is scratch. */
  *leftOfNew({ now, rule }: Examined): Steps<WorkspaceChange['left'], undefined> {
    return (yield* this.#holders.holdsOnlyScratch(now!.inode!, rule)) ? 'scratch' : undefined;
  }

  /** Whether the path is chosen, or above one that is. */
  concerns(path: ByteString): boolean {
    return this.#covered === undefined || this.#above.has(path) || this.#covered.has(path);
  }

  /** Whether paths below the directory can be chosen. */
  mayHaveBelow(path: ByteString, excluded: RuleState | undefined): boolean {
    return !isMatched(excluded) && this.concerns(path);
  }
}
