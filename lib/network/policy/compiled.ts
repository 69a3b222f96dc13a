import { type Network, parseCidr } from './cidr.ts';
import type { NetworkPolicy, NetworkRule } from './policy.ts';

/** A rule with its parts parsed. */
export interface CompiledRule {
  index: number;
  rule: NetworkRule;
  network: Network | undefined;
  /** It is about HTTP requests. */
  isConditional: boolean;
}

/** Ports of a rule that allows without naming any. */
const WEB_PORTS = [80, 443];

const compiled = new WeakMap<NetworkPolicy, readonly CompiledRule[]>();

/** The rules of a policy, compiled once. A policy must not change: a change is a new one. */
export function compiledRules(policy: NetworkPolicy): readonly CompiledRule[] {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const rules = policy.rules.map((rule, index) => ({
    index,
    rule,
    network: rule.cidr === '' ? undefined : parseCidr(rule.cidr),
    isConditional: rule.methods.length > 0 || rule.path_prefix !== '',
  }));
  compiled.set(policy, rules);
  return rules;
}

/** A rule that denies without naming ports denies all of them. */
export function hasPort({ action, ports }: NetworkRule, port: number): boolean {
  if (ports.length > 0) return ports.includes(port);
  return action === 'deny' || WEB_PORTS.includes(port);
}
