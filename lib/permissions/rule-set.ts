import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../messages.ts';
import type { Level } from './levels.ts';

/**
 * What the rules say about one path, and the way to its children. Immutable, holds no path, shared by all paths the
 * rules cannot tell apart: keep one per directory, ask `child` per name (a few map look-ups, nothing per rule).
 */
export interface RuleState {
  /** By the rule that wins for exactly this path. NONE with `visibleBelow`: a directory here is passed through. */
  readonly level: Level;
  /** False: nothing strictly below can be VIEW or better, so with level NONE this path is not there at all. */
  readonly visibleBelow: boolean;
  /** False: nothing strictly below can be WRITE. */
  readonly writableBelow: boolean;
  /** The level of every path strictly below when the rules are sure that it is one; undefined: it may differ. */
  readonly uniformBelow: Level | undefined;
  /** `name`: one path component; never empty, `.`, `..` or with a slash. */
  child(name: ByteString): RuleState;
}

/** A rule with its place in the list it was given in. */
export interface PlacedRule {
  index: number;
  rule: PermissionRule;
}

/** Compiled rules of one sandbox. Immutable; paths are taken from the codebase root. */
export interface RuleSet {
  /** As given, in the order given. */
  readonly rules: readonly PermissionRule[];
  /** The state of the codebase root itself. */
  readonly root: RuleState;
  /** `path`: components joined by `/`; a leading slash is dropped, '' is the root. Bytes (see `bytesOf` for strings). */
  state(path: ByteString): RuleState;
  /** Same as `state(path).level`. */
  decide(path: ByteString): Level;
  /** The rules that match `path`, best first: the first one wins. */
  matching(path: ByteString): PlacedRule[];
  /** Why `winner` goes before `beaten`, worded to follow the winner's name. */
  whyBefore(winner: PlacedRule, beaten: PlacedRule): string;
}
