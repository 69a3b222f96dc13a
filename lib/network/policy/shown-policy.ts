import type { NetworkPolicy as Shown, NetworkRule as ShownRule } from '../../contract/messages.ts';
import type { NetworkPolicy, NetworkRule } from './policy.ts';

/** Of a sandbox that never had a policy. */
export const NO_NETWORK: NetworkPolicy = { mode: 'none', rules: [], revision: 0 };

/** A policy in the form of the API, which has the rules of presets among the others. */
export function shownPolicy({ mode, rules, revision }: NetworkPolicy): Shown {
  return { mode, rules: rules.map(shownRule), revision, presets: [] };
}

export const shownRule = (rule: NetworkRule): ShownRule => ({ preset: '', ...rule });
