import { type Level, type RuleState, WRITE } from '../../permissions/index.ts';
import type { Access } from '../access/access.ts';

/** The rules of every path for the owner: none applies. */
const EVERYTHING: RuleState = {
  level: WRITE,
  scratch: false,
  redactor: undefined,
  visibleBelow: true,
  writableBelow: true,
  uniformBelow: WRITE,
  child: () => EVERYTHING,
};

/** The access of the sandbox's owner, who may do everything. Only for file operations that the owner requests. */
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
}

/** The one `OwnerAccess`; it has no state. */
export const OWNER = new OwnerAccess();
