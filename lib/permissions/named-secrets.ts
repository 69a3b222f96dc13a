import type { PermissionRule } from '../contract/messages.ts';
import { covers } from './covers.ts';
import { patternOfRule } from './preset-patterns.ts';
import type { Component } from './tokens.ts';

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
  const guards = preset.filter(({ contents }) => contents === 'redacted' || contents === 'kept').map(patternOfRule);
  const found: PermissionRule[] = [];
  for (const rule of own.slice(0, MAX_RULES)) {
    yield;
    const { pattern, type, permission, contents, view } = rule;
    if (contents || view || (permission !== 'PERMISSION_READ' && permission !== 'PERMISSION_WRITE')) continue;
    const named = namedBy(rule);
    if (!guards.some(({ components }) => covers(components, named))) continue;
    found.push({ pattern, type, permission: 'PERMISSION_NONE', priority: 0, contents: 'shown' });
  }
  return found;
}

/** Of a path its own name: what is below belongs to it. */
function namedBy(rule: PermissionRule): readonly Component[] {
  const { components } = patternOfRule(rule);
  return rule.type === 'PATTERN_DIRECTORY' ? components.slice(0, -1) : components;
}
