import { type Address, parseAddress } from './addresses.ts';
import { beyondCeiling } from './ceiling.ts';
import { contains } from './cidr.ts';
import { type CompiledRule, compiledRules, hasPort } from './compiled.ts';
import { isBelow, readingsOf } from './http-paths.ts';
import { canonicalName, matchesName } from './names.ts';
import type { Decision, Limits, NetworkPolicy, Target } from './policy.ts';
import { refusedAddress, specialOf } from './refused-address.ts';

/** A target in the form in which it is compared. */
export interface ExaminedTarget {
  name: string | undefined;
  address: Address | undefined;
  port: number;
  /** undefined: a connection, before its requests. */
  request: { method: string; paths: readonly string[] | undefined } | undefined;
}

/** A decision, with what it was made by. */
export interface Examined {
  decision: Decision;
  /** undefined: the target has no valid name. */
  target: ExaminedTarget | undefined;
  /** The rules that match, in the order in which they decide. Rules about requests match a connection. */
  matching: readonly CompiledRule[];
}

/**
 * Decides about a name before its resolution, about each of its addresses before the connection, and about each inspected
 * request. All of them must be allowed. For a connection, rules about requests are open: `inspect` is set then, and each
 * request must be decided.
 */
export function decide(policy: NetworkPolicy, target: Target, limits: Limits): Decision {
  return examine(policy, target, limits).decision;
}

export function examine(policy: NetworkPolicy, asked: Target, limits: Limits): Examined {
  const target = examinedTarget(asked);
  if (target === undefined) {
    return { decision: refused('not_allowed', 'That is no valid name of a host.'), target, matching: [] };
  }
  if (policy.mode === 'none') {
    return { decision: refused('not_allowed', 'The sandbox has no network: its mode is none.'), target, matching: [] };
  }
  const rules = compiledRules(policy).filter((each) => matches(each, target));
  const denying = rules.filter(({ rule }) => rule.action === 'deny');
  // Those without conditions first: they decide alone.
  const allowing = [false, true].flatMap((conditional) =>
    rules.filter(({ rule, isConditional }) => rule.action === 'allow' && isConditional === conditional),
  );
  return {
    decision: decideBy(policy, target, { denying, allowing }, limits),
    target,
    matching: [...denying, ...allowing],
  };
}

function decideBy(
  { mode }: NetworkPolicy,
  target: ExaminedTarget,
  { denying, allowing }: { denying: readonly CompiledRule[]; allowing: readonly CompiledRule[] },
  limits: Limits,
): Decision {
  const isOpen = (each: CompiledRule) => each.isConditional && target.request === undefined;
  const denied = denying.find((each) => !isOpen(each));
  if (denied) return refused('denied_by_rule', `${describe(denied)} denies it.`, denied.index);
  const allowed = allowing[0];
  const special = target.address && specialOf(target.address, limits.ownAddresses);
  const unlisted = special && refusedAddress(target.address!, special, allowing);
  if (unlisted !== undefined) return refused('special_address', unlisted);
  if (allowed === undefined && mode === 'allow_list') {
    return refused('not_allowed', 'No rule allows it, and the mode is allow_list.');
  }
  const beyond = beyondCeiling(target, special, limits.allowMax);
  if (beyond !== undefined) return refused('ceiling', beyond);
  const inspect =
    [...denying, ...allowing].some(({ rule }) => rule.tls === 'inspect') ||
    denying.some(isOpen) ||
    (allowed !== undefined && isOpen(allowed) && mode === 'allow_list');
  const reason = allowed === undefined ? 'The mode is open, and no rule denies it.' : `${describe(allowed)} allows it.`;
  return { allowed: true, rule: allowed?.index, code: 'allowed', reason, inspect };
}

function refused(code: Decision['code'], reason: string, rule?: number): Decision {
  return { allowed: false, rule, code, reason, inspect: false };
}

/** A rule with a name matches no address without one, and a rule with a network nothing that has no address yet. */
function matches({ rule, network, isConditional }: CompiledRule, target: ExaminedTarget): boolean {
  if (!hasPort(rule, target.port)) return false;
  if (rule.host !== '' && (target.name === undefined || !matchesName(rule.host, target.name))) return false;
  if (rule.cidr !== '' && !(network && target.address && contains(network, target.address))) return false;
  return !isConditional || target.request === undefined || matchesRequest(rule, target.request);
}

/** What cannot be read for certain is denied, and not allowed. */
function matchesRequest(
  rule: CompiledRule['rule'],
  { method, paths }: NonNullable<ExaminedTarget['request']>,
): boolean {
  if (rule.methods.length > 0 && !rule.methods.includes(method)) return false;
  if (rule.path_prefix === '') return true;
  const below = (path: string) => isBelow(rule.path_prefix, path);
  return rule.action === 'deny' ? (paths?.some(below) ?? true) : (paths?.every(below) ?? false);
}

/** A name that is an address is one. */
function examinedTarget({ host, address: given, port, method, path }: Target): ExaminedTarget | undefined {
  const literal = host === undefined ? undefined : parseAddress(host.replace(/^\[(.*)\]$/, '$1'));
  const name = host === undefined || literal ? undefined : canonicalName(host);
  if (name && 'problem' in name) return undefined;
  const address = given === undefined ? literal : parseAddress(given);
  if (address === undefined && (given !== undefined || name === undefined)) return undefined;
  const isRequest = method !== undefined || path !== undefined;
  const request = isRequest ? { method: (method ?? '').toUpperCase(), paths: readingsOf(path ?? '/') } : undefined;
  return { name: name?.name, address, port, request };
}

/** The rule as a noun of a sentence. */
export function describe({ index, rule }: CompiledRule): string {
  const ports = rule.ports.length === 0 ? [] : [`port ${rule.ports.join(' or ')}`];
  const path = rule.path_prefix === '' ? [] : [`path ${rule.path_prefix}`];
  const from = rule.preset ? [`preset ${rule.preset}`] : [];
  return `rules[${index}] (${[rule.action, rule.host || rule.cidr, ...ports, ...rule.methods, ...path, ...from].join(', ')})`;
}
