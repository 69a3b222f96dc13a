import type { ByteString } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { isRedactedLevel, NONE, READ, type RuleSet, VIEW } from '../../permissions/index.ts';

/** Patterns in one message, and characters of each: callers choose the rules. */
const [MOST, LONGEST] = [3, 100];

/** Why an agent is refused at a path, as the predicate of a sentence, with the remedy. */
export function refusedByRules(path: ByteString, rules: RuleSet, given: readonly PermissionRule[]): string {
  const level = rules.decide(path);
  if (level === READ) return `is read-only here; writable: ${writable(given)}`;
  if (level === VIEW) return 'can be listed here and not opened: that takes a rule of the level "read"';
  if (level === NONE) return `is hidden by a rule of the level "none"; writable: ${writable(given)}`;
  if (isRedactedLevel(level)) return 'has placeholders here, which are not changed in this way';
  return 'cannot be accessed: its mode, or the rule or mode of a path above or below it, does not permit it';
}

function writable(given: readonly PermissionRule[]): string {
  const patterns = given.filter(({ permission, contents }) => permission === 'PERMISSION_WRITE' && !contents);
  const named = patterns.slice(0, MOST).map(({ pattern }) => pattern.slice(0, LONGEST));
  return named.length === 0 ? 'nothing' : `${named.join(', ')}${patterns.length > MOST ? ', …' : ''}`;
}
