import { PatternType, Permission, type PermissionRule } from '../contract/messages.ts';
import { invalidArgument } from '../errors.ts';
import { parsePattern } from './parse-pattern.ts';
import { MAX_NAMES, MAX_RULES, MAX_TOKENS, PatternError } from './pattern-limits.ts';
import { comparePrecedence } from './precedence.ts';
import type { RuleSet } from './rule-set.ts';
import type { ParsedRule } from './rule-trie.ts';
import { TrieRuleSet } from './trie-rule-set.ts';

/**
 * Compiles the rules of a sandbox; an empty list hides everything. Throws INVALID_ARGUMENT naming `permissions[i]`, the
 * field and the reason. Limits: 100 000 rules, 4096 bytes per pattern.
 */
export function compileRules(rules: readonly PermissionRule[]): RuleSet {
  if (rules.length > MAX_RULES) {
    throw invalidArgument('permissions', `has ${rules.length} rules; at most ${MAX_RULES} are allowed`);
  }
  // Copied, so that later changes of the caller's objects have no effect.
  const kept = rules.map((rule) => ({ ...rule }));
  const size = { names: 0, tokens: 0 };
  const parsed = kept.map((rule, index): ParsedRule => {
    const parsedRule = parseRule(rule, index);
    addSize(size, parsedRule);
    if (size.names > MAX_NAMES || size.tokens > MAX_TOKENS) {
      throw invalidArgument(
        `permissions[${index}].pattern`,
        'and the patterns before it are more than can be held; use fewer or simpler patterns',
      );
    }
    return parsedRule;
  });
  return new TrieRuleSet(kept, parsed.sort(comparePrecedence));
}

function parseRule(rule: PermissionRule, index: number): ParsedRule {
  const refuse = (field: string, why: string): never => {
    throw invalidArgument(`permissions[${index}].${field}`, why);
  };
  if (!Permission.includes(rule.permission)) refuse('permission', `must be one of ${Permission.join(', ')}`);
  if (!PatternType.includes(rule.type)) refuse('type', `must be one of ${PatternType.join(', ')}`);
  if (rule.priority !== (rule.priority | 0)) refuse('priority', 'must be an integer from -2147483648 to 2147483647');
  try {
    return { index, rule, ...parsePattern(rule.type, rule.pattern) };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return refuse('pattern', `${quote(rule.pattern)} ${error.message}`);
  }
}

function quote(pattern: string): string {
  return JSON.stringify(
    pattern.length > 100 ? `${Array.from(pattern.slice(0, 200)).slice(0, 100).join('')}…` : pattern,
  );
}

function addSize(size: { names: number; tokens: number }, { components }: ParsedRule): void {
  for (const component of components) {
    const alternatives = component === 'deep' ? [{ tokens: undefined }] : component;
    for (const { tokens } of alternatives) {
      if (tokens === undefined) size.names++;
      else size.tokens += tokens.length;
    }
  }
}
