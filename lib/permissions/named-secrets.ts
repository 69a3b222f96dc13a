import type { PermissionRule } from '../contract/messages.ts';
import { covers } from './covers.ts';
import { patternOfRule } from './preset-patterns.ts';
import { PROTECTED_PRIORITY } from './preset-priorities.ts';
import type { Component } from './tokens.ts';

/** Above those of the short form and of the preset, in the same order. */
const RAISED = PROTECTED_PRIORITY + 100;
/** Rules that are looked at; whoever has more names priorities. */
const MAX_RULES = 1000;

/**
 * What a caller's rules need beside them to decide over a preset, in steps: a rule whose pattern matches nothing but paths
 * that one rule of the preset protects, like `.env`, is about these. One that matches others, too, like `config/**`, is not.
 */
export function* findingNamed(
  own: readonly PermissionRule[],
  preset: readonly PermissionRule[],
): Generator<undefined, PermissionRule[], void> {
  const guards = preset.filter(({ contents, priority }) => contents === 'redacted' || priority === PROTECTED_PRIORITY);
  const parsed = guards.map((rule) => ({ rule, components: patternOfRule(rule).components }));
  const found: PermissionRule[] = [];
  for (const rule of own.slice(0, MAX_RULES)) {
    yield;
    const { pattern, type } = rule;
    const allows = rule.permission === 'PERMISSION_READ' || rule.permission === 'PERMISSION_WRITE';
    if (rule.contents || !allows) continue;
    const named = namedBy(rule);
    const guard = parsed.find(({ components }) => covers(components, named))?.rule;
    if (guard === undefined) continue;
    const isPlain = !rule.view;
    if (guard.contents && isPlain) {
      found.push({ pattern, type, permission: 'PERMISSION_NONE', priority: 0, contents: 'shown' });
    } else if (!guard.contents && rule.priority < PROTECTED_PRIORITY) {
      found.push({ ...rule, priority: rule.priority + RAISED });
    }
  }
  return found;
}

/** Of a path its own name: what is below belongs to it. */
function namedBy(rule: PermissionRule): readonly Component[] {
  const { components } = patternOfRule(rule);
  return rule.type === 'PATTERN_DIRECTORY' ? components.slice(0, -1) : components;
}
