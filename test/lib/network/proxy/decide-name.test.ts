import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../lib/network/policy/decide.ts';
import type { Ceiling, NetworkPolicy, NetworkRule, Target } from '../../../../lib/network/policy/policy.ts';
import { decideName, kindOf } from '../../../../lib/network/proxy/decide-name.ts';

const RULE: NetworkRule = { action: 'allow', host: '', cidr: '', ports: [], methods: [], path_prefix: '', tls: '' };
const PORTS = [1, 2, 3, 4, 80, 443];

function decided(policy: NetworkPolicy, name: string, allowMax: Ceiling) {
  let count = 0;
  const limits = { allowMax, ownAddresses: { has: () => false } };
  const decideOne = (target: Target) => {
    count++;
    return decide(policy, target, limits);
  };
  return { decision: decideName(policy, name, { allowMax, decide: decideOne }), count, decideOne };
}

describe('a name', () => {
  it('is allowed if any of its ports is', () => {
    const ports = fc.uniqueArray(fc.constantFrom(...PORTS.slice(1)), { maxLength: 3 });
    const rules = fc.array(
      fc.record({
        action: fc.constantFrom('allow' as const, 'deny' as const),
        host: fc.constantFrom('a.test', '*.a.test', 'x.a.test'),
        methods: fc.constantFrom([], ['GET']),
        ports,
      }),
      { maxLength: 5 },
    );
    const ceiling = fc.option(
      fc.array(fc.record({ host: fc.constantFrom('*', '*.a.test'), cidr: fc.constant(''), ports })),
      {
        nil: undefined,
      },
    );
    fc.assert(
      fc.property(fc.constantFrom('allow_list' as const, 'open' as const), rules, ceiling, (mode, some, allowMax) => {
        const policy = { mode, rules: some.map((each) => ({ ...RULE, ...each })), revision: 1 };
        const { decision, decideOne } = decided(policy, 'x.a.test', allowMax);
        const any = PORTS.some((port) => decideOne({ host: 'x.a.test', address: undefined, port }).allowed);
        expect(decision.allowed).toBe(any);
      }),
    );
  });

  it('of one kind has one decision', () => {
    const host = fc.constantFrom('a.test', '*.a.test', 'x.a.test', '*.test');
    const action = fc.constantFrom('allow' as const, 'deny' as const);
    const rules = fc.array(fc.record({ action, host }), { maxLength: 5 });
    const ceiling = fc.array(fc.record({ host: fc.constantFrom('*', '*.a.test', 'a.test') }), { maxLength: 2 });
    const names = ['a.test', 'x.a.test', 'y.a.test', '-.a.test', 'b.test', 'other'];
    fc.assert(
      fc.property(fc.constantFrom('allow_list' as const, 'open' as const), rules, ceiling, (mode, some, entries) => {
        const policy = { mode, rules: some.map((each) => ({ ...RULE, ...each })), revision: 1 };
        const allowMax = entries.map((each) => ({ ...each, cidr: '', ports: [] }));
        const decisions = new Map<string, object>();
        for (const name of names) {
          const { decision } = decided(policy, name, allowMax);
          const kind = kindOf(policy, name, allowMax);
          expect(decision).toEqual(decisions.get(kind) ?? decision);
          decisions.set(kind, decision);
        }
      }),
    );
  });

  it('is decided with few decisions, whatever the policy', () => {
    const portsFrom = (first: number) => Array.from({ length: 64 }, (_, index) => first + index);
    const rules = Array.from({ length: 128 }, (_, index) => [
      { ...RULE, host: '*.a.test', ports: portsFrom(1000 + 64 * index) },
      { ...RULE, host: '*.a.test', ports: portsFrom(1000 + 64 * index), action: 'deny' as const },
    ]).flat();
    const beyond = rules.filter(({ action }) => action === 'allow');
    for (const mode of ['allow_list', 'open'] as const) {
      expect(decided({ mode, rules, revision: 1 }, 'x.a.test', undefined).count).toBeLessThan(10);
      const ceiling = [{ host: '*', cidr: '', ports: [9] }];
      expect(decided({ mode, rules: beyond, revision: 1 }, 'x.a.test', ceiling).count).toBeLessThan(10);
    }
  });
});
