import type { ByteString } from '../../byte-string.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { isRedactedLevel, NONE, PRESETS, READ, type RuleSet, VIEW } from '../../permissions/index.ts';
import { toServiceError } from './errors.ts';
import type { FileRequest } from './file-request.ts';

/** Patterns in one message, and characters of each: callers choose the rules. */
const [MOST, LONGEST] = [3, 100];

/** Patterns of presets, which are the same for everybody. */
const OF_PRESETS = new Set(PRESETS.flatMap(({ permissions }) => permissions.map(({ pattern }) => pattern)));

/** An error of an operation at a path, as clients receive it: an agent is told what its rules say. */
export function errorAt({ workspace, isOwner }: FileRequest, error: unknown, path: ByteString | undefined): unknown {
  const refused = (at: ByteString) => refusedByRules(at, workspace.rules, workspace.givenRules);
  return toServiceError(error, path, isOwner ? undefined : refused);
}

/** Why an agent is refused at a path, as the predicate of a sentence, with the remedy. */
export function refusedByRules(path: ByteString, rules: RuleSet, given: readonly PermissionRule[]): string {
  const level = rules.decide(path);
  if (level === READ) return `is read-only here; writable: ${writable(given)}`;
  if (level === VIEW) return 'can be listed here and not opened: that takes a rule of the level "read"';
  if (level === NONE) return `is hidden by a rule of the level "none"; writable: ${writable(given)}`;
  if (isRedactedLevel(level)) return 'has placeholders here, which are not changed in this way';
  return 'cannot be accessed: its mode, or the rule or mode of a path above or below it, does not permit it';
}

/** The caller's own patterns first. */
function writable(given: readonly PermissionRule[]): string {
  const patterns = given.filter(({ permission, contents }) => permission === 'PERMISSION_WRITE' && !contents);
  const named = patterns
    .toSorted((a, b) => Number(OF_PRESETS.has(a.pattern)) - Number(OF_PRESETS.has(b.pattern)))
    .slice(0, MOST)
    .map(({ pattern }) => pattern.slice(0, LONGEST));
  return named.length === 0 ? 'nothing' : `${named.join(', ')}${patterns.length > MOST ? ', …' : ''}`;
}
