import { type Level, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';

/** The state of every path: no rule counts. */
const EVERYTHING: RuleState = {
  level: WRITE,
  visibleBelow: true,
  writableBelow: true,
  uniformBelow: WRITE,
  child: () => EVERYTHING,
};

/** Who owns the sandbox: everything may be done everywhere. Only for operations on files that the owner asks for. */
class OwnerAccess implements Access {
  readonly actor = 'owner';

  level(): Level {
    return WRITE;
  }

  rule(): RuleState {
    return EVERYTHING;
  }

  ruleOf(): RuleState {
    return EVERYTHING;
  }

  shownRule(): RuleState {
    return EVERYTHING;
  }

  baseRule(): undefined {}

  baseRuleAt(): undefined {}
}

export const OWNER = new OwnerAccess();
