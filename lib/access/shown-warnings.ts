import type { RuleWarning } from '../contract/messages.ts';
import { hasScope } from './decide.ts';
import type { Principal } from './principal.ts';

/** Warnings that tell which paths a codebase has. */
const OF_PATHS = ['matches_nothing', 'directory_only'];

interface Warned {
  warnings?: readonly RuleWarning[];
}

/**
 * The answer with the warnings that a caller may see. Without the scope to read files it must not learn which paths the
 * codebase has: neither by their names, nor by trying rules.
 */
export function withShownWarnings<Answer extends Warned>(principal: Principal, answer: Answer): Answer {
  const { warnings } = answer;
  if (warnings === undefined || hasScope(principal, 'files:read')) return answer;
  const told = new Set<string>();
  const shown = warnings.filter(({ code, rule }) => {
    const isNew = !told.has(`${code} ${rule}`);
    told.add(`${code} ${rule}`);
    return isNew && !OF_PATHS.includes(code);
  });
  return { ...answer, warnings: shown.map((warning) => (warning.path === '' ? warning : withoutName(warning))) };
}

function withoutName(warning: RuleWarning): RuleWarning {
  const message =
    'A file looks like a secret, and commands can read it; a key with the scope files:read is told which.';
  return { ...warning, path: '', message };
}
