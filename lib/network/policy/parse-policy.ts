import type { NetworkPolicy as PolicyRequest, NetworkRule as RuleRequest } from '../../contract/messages.ts';
import { invalidArgument } from '../../errors.ts';
import { allowedBy, canHaveEffect } from './ceiling.ts';
import { formatCidr, parseCidr } from './cidr.ts';
import { canonicalPrefix } from './http-paths.ts';
import { canonicalPattern } from './names.ts';
import type { Ceiling, NetworkMode, NetworkPolicy, NetworkRule } from './policy.ts';
import { MAX_NETWORK_RULES } from './policy-limits.ts';
import { findNetworkPreset, NETWORK_PRESETS } from './presets.ts';

/**
 * Returns the policy of a request: its own rules, then those of its presets, each rule once. Throws INVALID_ARGUMENT naming the
 * field, after `prefix`, with the index in the request.
 */
export function parsePolicy(
  { mode, rules, presets }: Pick<PolicyRequest, 'mode' | 'rules' | 'presets'>,
  revision: number,
  ceiling: Ceiling,
  prefix = '',
): NetworkPolicy {
  const own = rules.map((rule, index) => parseRule(rule, `${prefix}rules[${index}]`));
  const all = [...own, ...presets.flatMap((name, index) => presetRules(name, `${prefix}presets[${index}]`))];
  const policyMode = (mode || 'none') as NetworkMode;
  if (policyMode === 'none' && all.length > 0) {
    throw invalidArgument(`${prefix}mode`, 'must be allow_list or open with rules or presets');
  }
  const once = [...new Map(all.map((rule) => [JSON.stringify(rule), rule])).values()];
  if (once.length > MAX_NETWORK_RULES) {
    const problem = `must have at most ${MAX_NETWORK_RULES} entries with those of the presets, not ${once.length}`;
    throw invalidArgument(`${prefix}rules`, problem);
  }
  const useless = own.findIndex((rule) => rule.action === 'allow' && !canHaveEffect(rule, ceiling));
  if (useless >= 0) throw exceedsCeiling(own[useless]!, `${prefix}rules[${useless}]`, ceiling);
  return { mode: policyMode, rules: once, revision };
}

function exceedsCeiling(rule: NetworkRule, at: string, ceiling: Ceiling) {
  const more = allowedBy(rule.cidr || rule.host, ceiling);
  const problem = `exceeds what the server allows to its sandboxes (network.allow_max)${more}`;
  return invalidArgument(`${at}.${rule.cidr === '' ? 'host' : 'cidr'}`, problem);
}

function presetRules(name: string, at: string): readonly NetworkRule[] {
  const preset = findNetworkPreset(name);
  if (preset) return preset.rules;
  throw invalidArgument(at, `must be one of ${NETWORK_PRESETS.map((each) => each.name).join(', ')}`);
}

function parseRule(rule: RuleRequest, at: string): NetworkRule {
  if ((rule.host === '') === (rule.cidr === '')) throw invalidArgument(at, 'must have either host or cidr');
  const preset = rule.preset && findNetworkPreset(rule.preset)?.name;
  if (preset === undefined) throw invalidArgument(`${at}.preset`, 'must be empty, or the name of a preset');
  const parsed: NetworkRule = {
    action: rule.action === 'deny' ? 'deny' : 'allow',
    host: rule.host && parseHost(rule.host, `${at}.host`),
    cidr: rule.cidr && parseNetwork(rule.cidr, `${at}.cidr`),
    ports: [...new Set(rule.ports)].sort((a, b) => a - b),
    methods: [...new Set(rule.methods.map((method) => method.toUpperCase()))].sort(),
    path_prefix: rule.path_prefix && parsePrefix(rule.path_prefix, `${at}.path_prefix`),
    tls: rule.tls,
    ...(preset && { preset }),
  };
  requireInspection(parsed, at);
  return parsed;
}

/** Methods and paths are seen in plain HTTP, and in TLS that is inspected, which needs the name of a certificate. */
function requireInspection({ tls, cidr, methods, path_prefix, ports }: NetworkRule, at: string): void {
  if (tls !== '' && cidr !== '') throw invalidArgument(`${at}.tls`, 'needs host: a certificate is for a name');
  const isPlainHttp = ports.length === 1 && ports[0] === 80;
  if (tls !== '' || isPlainHttp || (methods.length === 0 && path_prefix === '')) return;
  const field = methods.length > 0 ? 'methods' : 'path_prefix';
  throw invalidArgument(`${at}.${field}`, 'needs tls: inspect, unless ports is 80 alone');
}

function parseHost(text: string, at: string): string {
  const pattern = canonicalPattern(text);
  if ('name' in pattern) return pattern.name;
  throw invalidArgument(at, pattern.problem);
}

function parseNetwork(text: string, at: string): string {
  const network = parseCidr(text);
  if (network) return formatCidr(network);
  throw invalidArgument(at, 'must be a network like 10.1.0.0/16 or 2001:db8::/32, or an address');
}

function parsePrefix(text: string, at: string): string {
  const prefix = canonicalPrefix(text);
  if (prefix !== undefined) return prefix;
  throw invalidArgument(at, 'must be the absolute path of a URL, without query, "\\", ";" and what is encoded twice');
}
