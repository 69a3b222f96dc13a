import { PatternType, Permission, type PermissionRule } from '../contract/messages.ts';
import { invalidArgument, wordOf } from '../errors.ts';
import { asContentsRule, CONTENTS, kindOf, SHOWN_ELSEWHERE } from './contents-rules.ts';
import { GuardedRuleSet } from './guarded-rule-set.ts';
import { findingLifting } from './lifting.ts';
import { MAX_NAMES, MAX_STORED_RULES, MAX_TOKENS, PatternError } from './pattern-limits.ts';
import { patternOfRule } from './preset-patterns.ts';
import { REDACTORS, type Redactor } from './redactors.ts';
import type { RuleSet } from './rule-set.ts';
import { buildTrie, type ParsedRule } from './rule-trie.ts';
import { sortRules } from './sort-rules.ts';
import { TrieRuleSet } from './trie-rule-set.ts';

const ON_WRITE: readonly string[] = ['', 'refuse', 'merge'];
/** Rules parsed in one step; a step also ends after this many names and tokens. */
const RULES_PER_STEP = 64;
const SIZE_PER_STEP = 4096;

/** Compiles rules at once; see `compiling`. */
export function compileRules(rules: readonly PermissionRule[]): RuleSet {
  const steps = compiling(rules);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Compiles the rules of a sandbox, in steps of a fraction of a millisecond; an empty list hides everything. `rules` must
 * not change meanwhile. Throws INVALID_ARGUMENT naming `permissions[i]`, the field and the reason. Limits: 100,000 rules,
 * 4096 bytes per pattern.
 */
export function* compiling(rules: readonly PermissionRule[]): Generator<undefined, RuleSet, void> {
  if (rules.length > MAX_STORED_RULES) {
    throw invalidArgument('permissions', `has ${rules.length} rules; at most ${MAX_STORED_RULES} are allowed`);
  }
  const kept: PermissionRule[] = [];
  const parsed: ParsedRule[] = [];
  const size = { names: 0, tokens: 0 };
  let stepEnd = SIZE_PER_STEP;
  for (const [index, given] of rules.entries()) {
    // Copied, so that later changes of the caller's objects have no effect.
    const rule = { ...given };
    const parsedRule = parseRule(rule, index);
    addSize(size, parsedRule);
    if (size.names > MAX_NAMES || size.tokens > MAX_TOKENS) {
      throw invalidArgument(
        `permissions[${index}].pattern`,
        'and the patterns before it are more than can be held; use fewer or simpler patterns',
      );
    }
    kept.push(rule);
    parsed.push(parsedRule);
    if (index % RULES_PER_STEP < RULES_PER_STEP - 1 && size.names + size.tokens < stepEnd) continue;
    stepEnd = size.names + size.tokens + SIZE_PER_STEP;
    yield;
  }
  const of = (kind: string) => parsed.filter(({ rule }) => kindOf(rule) === kind);
  const access = yield* building(kept, of('access'));
  const contents = of('contents');
  const keeping = of('keeping');
  const shown = contents.length === 0 ? access : new GuardedRuleSet(access, yield* limiting(kept, contents));
  if (keeping.length === 0) return shown;
  return new GuardedRuleSet(shown, yield* limiting(kept, [...keeping, ...(yield* findingLifting(keeping, contents))]));
}

function* limiting(
  kept: readonly PermissionRule[],
  parsed: readonly ParsedRule[],
): Generator<undefined, TrieRuleSet, void> {
  const limits = parsed.map((each) => ({ ...each, rule: asContentsRule(each.rule) }));
  return yield* building(kept, [...limits, SHOWN_ELSEWHERE]);
}

function* building(
  kept: readonly PermissionRule[],
  parsed: readonly ParsedRule[],
): Generator<undefined, TrieRuleSet, void> {
  const ranked = yield* sortRules(parsed);
  const root = yield* buildTrie(ranked);
  yield;
  return new TrieRuleSet(kept, ranked, root);
}

function parseRule(rule: PermissionRule, index: number): ParsedRule {
  const refuse = (field: string, why: string): never => {
    throw invalidArgument(`permissions[${index}].${field}`, why);
  };
  if (!Permission.includes(rule.permission)) refuse('permission', `must be one of ${Permission.join(', ')}`);
  if (!PatternType.includes(rule.type)) refuse('type', `must be one of ${PatternType.join(', ')}`);
  if (rule.priority !== (rule.priority | 0)) refuse('priority', 'must be an integer from -2147483648 to 2147483647');
  if (rule.scratch && rule.permission !== 'PERMISSION_WRITE') {
    refuse(
      'scratch',
      `must be false with permission ${wordOf(rule.permission)}: only what may be written can be scratch`,
    );
  }
  requireView(rule, refuse);
  try {
    return { index, rule, ...patternOfRule(rule) };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return refuse('pattern', `${quote(rule.pattern)} ${error.message}`);
  }
}

function requireView(
  { permission, view = '', redactor = '', on_write = '', contents = '' }: PermissionRule,
  refuse: (field: string, why: string) => never,
): void {
  if (!CONTENTS.includes(contents)) refuse('contents', 'must be "redacted", "kept", "shown" or empty');
  if (contents !== '' && permission !== 'PERMISSION_NONE') {
    refuse('permission', 'must be none with contents: such a rule decides no permission');
  }
  if (view !== '' && view !== 'redacted') refuse('view', 'must be "redacted" or empty');
  if (view === 'redacted' && permission !== 'PERMISSION_READ') {
    refuse('view', `must be empty with permission ${wordOf(permission)}: only what may be read can be redacted`);
  }
  if (!ON_WRITE.includes(on_write)) refuse('on_write', 'must be "refuse", "merge" or empty');
  if (on_write !== '' && view === '' && contents !== 'redacted') {
    refuse('on_write', 'must be empty without view or contents "redacted"');
  }
  if (redactor === '') return;
  if (view === '' && contents !== 'redacted') refuse('redactor', 'must be empty without view or contents "redacted"');
  if (!REDACTORS.includes(redactor as Redactor)) refuse('redactor', `must be one of ${REDACTORS.join(', ')}, or empty`);
}

function quote(pattern: string): string {
  return JSON.stringify(
    pattern.length > 100 ? `${Array.from(pattern.slice(0, 200)).slice(0, 100).join('')}…` : pattern,
  );
}

function addSize(size: { names: number; tokens: number }, { components }: ParsedRule): void {
  for (const component of components) {
    const alternatives = typeof component === 'string' ? [{ tokens: undefined }] : component;
    for (const { tokens } of alternatives) {
      if (tokens === undefined) size.names++;
      else size.tokens += tokens.length;
    }
  }
}
