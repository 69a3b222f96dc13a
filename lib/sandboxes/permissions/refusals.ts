import { withBreaks } from '../../breaks.ts';
import { toText } from '../../byte-string.ts';
import type { RefusedPath as Refused } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import { compiling, type Level, levelOfRule, READ, type RuleSet, WRITE } from '../../permissions/index.ts';
import type { RefusedPath } from '../../workspaces/access/refusals.ts';
import type { SandboxContext } from '../context.ts';

const PLACEHOLDERS = 'commands read the file with placeholders, and cannot change it as they tried';

/** By the level, in the order of the levels: NONE, VIEW, REDACTED, MERGED, READ, WRITE. */
const CODES: readonly (readonly [code: string, reason: string])[] = [
  ['hidden', 'commands do not see the path'],
  ['not_readable', 'commands can list the path, and not open it'],
  ['placeholders', PLACEHOLDERS],
  ['placeholders', PLACEHOLDERS],
  ['read_only', 'commands can read the path, and not change it'],
  ['protected', 'something at or below the path is protected'],
];

/** What the rules refused the commands of a running sandbox, by its present rules, in the order of the first tries. */
export async function listRefusals(id: string, context: SandboxContext): Promise<Refused[]> {
  const { record, hasWorkspace, ending } = context.find(id);
  const { mount } = context.platform;
  if (record.runtime === 'RUNTIME_MOCK' || !hasWorkspace || ending) return [];
  const refused = await mount.refusals(id);
  const isThere = await Promise.all(refused.map(({ path, isLookup }) => !isLookup || exists(path)));
  return withBreaks(
    explaining(
      record.permissions,
      refused.filter((_, index) => isThere[index]),
    ),
  );

  async function exists(path: RefusedPath['path']): Promise<boolean> {
    try {
      await mount.files(id, 'owner', 'stat', path);
      return true;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }
}

function* explaining(
  permissions: Parameters<typeof compiling>[0],
  refused: readonly RefusedPath[],
): Generator<unknown, Refused[], void> {
  const rules = yield* compiling(permissions);
  const answer: Refused[] = [];
  for (const { path, count } of refused) {
    const level = rules.decide(path);
    const [code, reason] = CODES[level]!;
    const rule = decidingRule(rules, path, level);
    answer.push({ path: toText(path), code, reason, ...(rule && { rule }), count });
    yield;
  }
  return answer;
}

/** The rule that sets the level: of those about permissions the one that wins, or one about contents that limits it. */
function decidingRule(rules: RuleSet, path: RefusedPath['path'], level: Level): Refused['rule'] {
  if (level === WRITE) return undefined;
  const [winner] = rules.matching(path);
  if (winner === undefined || levelOfRule(winner.rule) === level) return winner;
  const about = level === READ ? 'kept' : 'redacted';
  return rules.contentsRules(path).find(({ rule }) => rule.contents === about);
}
