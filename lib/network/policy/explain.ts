import { formatAddress } from './addresses.ts';
import { describe, examine } from './decide.ts';
import type { Decision, Limits, NetworkPolicy, NetworkRule, Target } from './policy.ts';

export interface PlacedNetworkRule {
  index: number;
  rule: NetworkRule;
}

export interface Explanation {
  decision: Decision;
  /** undefined: no rule decides. */
  winner: PlacedNetworkRule | undefined;
  /** The other rules that match, in the order in which they would decide. */
  beaten: PlacedNetworkRule[];
  /** The name or address in the form in which it is compared. */
  host: string;
  /** For people. */
  reason: string;
}

/** Explains the decision about a target, by what it is made by. No name is resolved. */
export function explain(policy: NetworkPolicy, target: Target, limits: Limits): Explanation {
  const { decision, target: examined, matching } = examine(policy, target, limits);
  const winner = matching.find(({ index }) => index === decision.rule);
  const beaten = matching.filter((each) => each !== winner);
  const next = winner && beaten[0];
  const before =
    winner?.rule.action === 'deny' && next?.rule.action === 'allow' ? ', because a denial decides first' : '';
  const isName = decision.allowed && examined?.name !== undefined && examined.address === undefined;
  const sentences = [
    decision.reason,
    ...(next ? [`Next is ${describe(next)}${before}.`] : []),
    ...(isName ? ['The address that it is connected to must be public, unless a rule with its cidr allows it.'] : []),
    ...(decision.inspect ? ['Each HTTP request is decided on its own.'] : []),
  ];
  return {
    decision,
    winner,
    beaten,
    host: examined?.name ?? (examined?.address ? formatAddress(examined.address) : ''),
    reason: sentences.join(' '),
  };
}
