import { withBreaks } from '../../breaks.ts';
import type { PermissionRule, PermissionRules } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import {
  compiling,
  expandingRules,
  findingNamed,
  findPreset,
  isEmptyShortForm,
  PRESETS,
} from '../../permissions/index.ts';

/**
 * Returns the rules of a request: those of its preset, then its own, which it has in one of two forms, then those that
 * make the preset yield where they name what it protects. Throws INVALID_ARGUMENT naming `preset`, `rules`, or
 * `permissions[i]` with the index in the request.
 */
export async function rulesOf(request: {
  permissions: readonly PermissionRule[];
  preset: string;
  rules?: PermissionRules | undefined;
}): Promise<PermissionRule[]> {
  const own = await ownRules(request.permissions, request.rules);
  if (request.preset === '') return own;
  const preset = findPreset(request.preset);
  if (preset === undefined) {
    const names = PRESETS.map(({ name }) => name).join(', ');
    throw invalidArgument('preset', `must be one of ${names}, or empty`);
  }
  const yielding = await withBreaks(findingNamed(own, preset.permissions));
  const rules = [...preset.permissions, ...own, ...yielding];
  // The sum of all may exceed a limit.
  await withBreaks(compiling(rules));
  return rules;
}

/** Number of rules that a preset puts before those of the request. */
export function presetRules(preset: string): number {
  return findPreset(preset)?.permissions.length ?? 0;
}

async function ownRules(
  permissions: readonly PermissionRule[],
  short: PermissionRules | undefined,
): Promise<PermissionRule[]> {
  if (short === undefined || isEmptyShortForm(short)) {
    await withBreaks(compiling(permissions));
    return [...permissions];
  }
  if (permissions.length > 0) throw invalidArgument('rules', 'must be empty with permissions: give one of the two');
  const rules = await withBreaks(expandingRules(short));
  await withBreaks(compiling(rules));
  return rules;
}
