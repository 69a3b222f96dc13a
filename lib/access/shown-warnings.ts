import type { RuleWarning } from '../contract/messages.ts';
import { hasScope } from './decide.ts';
import type { Principal } from './principal.ts';

/** Warnings that depend on the rules alone. */
const OF_RULES = ['no_rules', 'never_decides'];

interface Warned {
  warnings?: readonly RuleWarning[];
}

/**
 * The answer with the warnings that a caller may see. Without the scope to read files it must not learn what the codebase
 * has by trying rules. `incomplete` would tell that there are more warnings than an answer has.
 */
export function withShownWarnings<Answer extends Warned>(principal: Principal, answer: Answer): Answer {
  const { warnings } = answer;
  if (warnings === undefined || hasScope(principal, 'files:read')) return answer;
  return { ...answer, warnings: warnings.filter(({ code }) => OF_RULES.includes(code)) };
}
