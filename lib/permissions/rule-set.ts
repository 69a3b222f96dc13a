import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { Level } from './levels.ts';

/**
 * The evaluation of the rules at one path, and the transition to its children. Immutable, contains no path, and shared
 * by all paths that the rules do not distinguish: keep one per directory and call `child` per name (a few map look-ups,
 * independent of the number of rules).
 */
export interface RuleState {
  /** The level by the winning rule for this path. NONE with `visibleBelow`: a directory here can be traversed. */
  readonly level: Level;
  /** Whether the winning rule is scratch: what is written here is no change. Implies WRITE. */
  readonly scratch: boolean;
  /** At levels REDACTED and MERGED: the winning rule's redactor, '' for that of the file's name. Otherwise undefined. */
  readonly redactor: string | undefined;
  /** False: no path strictly below can be VIEW or better, so with level NONE this path does not exist. */
  readonly visibleBelow: boolean;
  /** False: no path strictly below can be WRITE or MERGED. */
  readonly writableBelow: boolean;
  /** The level of every path strictly below, if it is certain to be uniform; otherwise undefined. */
  readonly uniformBelow: Level | undefined;
  /** `name`: one path component; never empty, `.`, `..` or with a slash. */
  child(name: ByteString): RuleState;
}

/** A rule with its index in the original list. */
export interface PlacedRule {
  index: number;
  rule: PermissionRule;
}

/** The compiled rules of one sandbox. Immutable; paths are relative to the codebase root. */
export interface RuleSet {
  /** The rules in their original order. */
  readonly rules: readonly PermissionRule[];
  /** Whether a rule is scratch. False: no state is. */
  readonly hasScratch: boolean;
  /** Whether a rule has `on_write` "merge". False: no state is MERGED. */
  readonly hasMerged: boolean;
  /** The state of the codebase root. */
  readonly root: RuleState;
  /**
   * `path`: components joined by `/`; a leading slash is dropped, '' is the root. Bytes (see `fromText` for strings).
   */
  state(path: ByteString): RuleState;
  /** Equal to `state(path).level`. */
  decide(path: ByteString): Level;
  /** The rules about the permission that match `path`, in order of precedence: the first one wins. */
  matching(path: ByteString): PlacedRule[];
  /** The rules that decide what is shown of the contents at `path`, and whether they are kept. */
  contentsRules(path: ByteString): PlacedRule[];
  /** The indexes of the rules that match at a state of this rule set. */
  matchingAt(state: RuleState): number[];
  /** The reason why `winner` precedes `beaten`, to follow the winner's name in a sentence. */
  whyBefore(winner: PlacedRule, beaten: PlacedRule): string;
}
