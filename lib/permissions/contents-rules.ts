import type { PermissionRule } from '../contract/messages.ts';
import type { ParsedRule } from './rule-trie.ts';

/** What a rule can say of contents; '': it decides a permission instead. */
export const CONTENTS: readonly string[] = ['', 'redacted', 'kept', 'shown'];

/**
 * Rules of one kind decide among each other only. What is shown of a file is one question, whether it is kept from being
 * changed is another: each is a limit by itself.
 */
export function kindOf({ contents }: Pick<PermissionRule, 'contents'>): 'access' | 'contents' | 'keeping' {
  if (contents === 'kept') return 'keeping';
  return contents ? 'contents' : 'access';
}

/**
 * A rule about contents as one about permissions, so that it is compiled like any other. What it grants is a limit: a
 * path has the stricter level of this one and of the rule that decides its permission.
 */
export function asContentsRule(rule: PermissionRule): PermissionRule {
  const { pattern, type, priority, redactor = '', on_write } = rule;
  if (rule.contents === 'shown') return { pattern, type, priority, permission: 'PERMISSION_WRITE' };
  const limit = { pattern, type, priority, permission: 'PERMISSION_READ' } as const;
  if (rule.contents === 'kept') return limit;
  return { ...limit, view: 'redacted', on_write: on_write === 'refuse' ? 'refuse' : 'merge', redactor };
}

/** Follows all other rules about contents. */
export const SHOWN_ELSEWHERE: ParsedRule = {
  index: -1,
  rule: { pattern: '/**', type: 'PATTERN_GLOB', priority: -(2 ** 31), permission: 'PERMISSION_WRITE' },
  components: ['deep'],
  exact: false,
  literalPrefix: 0,
};
