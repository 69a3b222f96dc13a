import { withBreaks } from '../../breaks.ts';
import type { PermissionRule } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { compiling, findPreset, PRESETS } from '../../permissions/index.ts';

/**
 * Returns the rules of a request: those of its preset, then its own. Throws INVALID_ARGUMENT naming `preset`, or
 * `permissions[i]` with the index in the request.
 */
export async function rulesOf(request: {
  permissions: readonly PermissionRule[];
  preset: string;
}): Promise<PermissionRule[]> {
  await withBreaks(compiling(request.permissions));
  if (request.preset === '') return [...request.permissions];
  const preset = findPreset(request.preset);
  if (preset === undefined) {
    const names = PRESETS.map(({ name }) => name).join(', ');
    throw invalidArgument('preset', `must be one of ${names}, or empty`);
  }
  const rules = [...preset.permissions, ...request.permissions];
  // The sum of both may exceed a limit.
  await withBreaks(compiling(rules));
  return rules;
}
