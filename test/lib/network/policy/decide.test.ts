import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../../lib/network/policy/decide.ts';
import { explain } from '../../../../lib/network/policy/explain.ts';
import type {
  Ceiling,
  NetworkMode,
  NetworkPolicy,
  NetworkRule,
  Target,
} from '../../../../lib/network/policy/policy.ts';
import { oracle } from './oracle.ts';

const OWN = '10.9.9.9';
const ownAddresses = { has: (address: string) => address === OWN };
const limits = { allowMax: undefined, ownAddresses };
const anything: Ceiling = [
  { host: '*', cidr: '', ports: [] },
  { host: '', cidr: '0.0.0.0/1', ports: [] },
  { host: '', cidr: '10.0.0.0/8', ports: [] },
  { host: '', cidr: '127.0.0.0/8', ports: [] },
  { host: '', cidr: 'fc00::/7', ports: [] },
];

const rule = (given: Partial<NetworkRule>): NetworkRule => ({
  action: 'allow',
  host: '',
  cidr: '',
  ports: [],
  methods: [],
  path_prefix: '',
  tls: '',
  ...given,
});
const policyOf = (mode: NetworkMode, ...rules: Partial<NetworkRule>[]): NetworkPolicy => ({
  mode,
  rules: rules.map(rule),
  revision: 1,
});
const to = (host: string | undefined, address?: string, port = 443): Target => ({ host, address, port });
const codeOf = (policy: NetworkPolicy, target: Target, allowMax: Ceiling = undefined) =>
  decide(policy, target, { allowMax, ownAddresses }).code;

describe('a decision', () => {
  it('is that of the oracle', () => {
    const names = fc.constantFrom('a.example', 'b.a.example', 'example', 'other', 'xa.example');
    const patterns = fc.constantFrom('a.example', '*.a.example', '*.example', 'other');
    const cidrs = fc.constantFrom(
      '10.0.0.0/8',
      '10.9.0.0/16',
      '10.9.9.9/32',
      '0.0.0.0/0',
      '127.0.0.0/8',
      '127.0.0.1/32',
      '8.8.0.0/16',
      '169.254.0.0/16',
    );
    const addresses = fc.constantFrom('10.9.9.9', '10.1.2.3', '8.8.8.8', '1.1.1.1', '127.0.0.1', '169.254.169.254');
    const ports = fc.subarray([80, 443, 22], { maxLength: 2 });
    const what = fc.oneof(
      patterns.map((host) => ({ host, cidr: '' })),
      cidrs.map((cidr) => ({ host: '', cidr })),
    );
    const rules = fc.tuple(
      what,
      ports,
      fc.constantFrom('allow' as const, 'deny' as const),
      fc.subarray(['GET', 'PUT'], { maxLength: 1 }),
    );
    const ceiling = fc.option(
      fc.array(fc.tuple(fc.oneof(what, fc.constant({ host: '*', cidr: '' })), ports), { maxLength: 3 }),
      { nil: undefined },
    );
    const target = fc.tuple(
      fc.option(names, { nil: undefined }),
      fc.option(addresses, { nil: undefined }),
      fc.constantFrom(80, 443, 22),
      fc.option(fc.constantFrom('GET', 'PUT'), { nil: undefined }),
    );
    const codes = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.constantFrom<NetworkMode>('allow_list', 'allow_list', 'open', 'none'),
        fc.array(rules, { maxLength: 5 }),
        target,
        ceiling,
        (mode, all, [host, address, port, method], max) => {
          fc.pre(host !== undefined || address !== undefined);
          const policy = policyOf(
            mode,
            ...all.map(([each, some, action, methods]) => ({ ...each, ports: some, action, methods })),
          );
          const asked = { host, address, port, ...(method !== undefined && { method }) };
          const allowMax = max?.map(([each, some]) => ({ ...each, ports: some }));
          const { code, allowed, rule: decides } = decide(policy, asked, { allowMax, ownAddresses });
          expect(code).toBe(oracle(policy, asked, { ceiling: allowMax, own: OWN }));
          expect(allowed).toBe(code === 'allowed');
          if (code === 'denied_by_rule') expect(policy.rules[decides!]!.action).toBe('deny');
          codes.set(code, (codes.get(code) ?? 0) + 1);
        },
      ),
      { numRuns: 3000 },
    );
    // Each outcome was compared.
    expect([...codes.keys()].sort()).toEqual([
      'allowed',
      'ceiling',
      'denied_by_rule',
      'not_allowed',
      'special_address',
    ]);
  });

  it('is the same for each form of a name and of an address', () => {
    const policy = policyOf('allow_list', { host: 'xn--bcher-kva.example' }, { cidr: '10.1.0.0/16' });
    for (const host of ['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.EXAMPLE'])
      expect(codeOf(policy, to(host))).toBe('allowed');
    for (const host of ['10.1.2.3', '::ffff:10.1.2.3', '[::ffff:a01:203]'])
      expect(codeOf(policy, to(host), anything)).toBe('allowed');
    for (const host of ['', 'a\0b', '127.1', '0x0a.1.2.3', 'bücher.example:443'])
      expect(codeOf(policy, to(host))).toBe('not_allowed');
  });

  it('refuses a special address for an allowed name, in each form', () => {
    const policy = policyOf('allow_list', { host: '*.example' }, { cidr: '0.0.0.0/0' }, { cidr: '::/0' });
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::1',
      '::1',
      OWN,
      `::ffff:${OWN}`,
      `64:ff9b::${OWN}`,
    ]) {
      expect(`${address} ${codeOf(policy, to('a.example', address), anything)}`).toBe(`${address} special_address`);
    }
    expect(codeOf(policy, to('a.example', 'nonsense'))).toBe('not_allowed');
  });

  it('allows special addresses by their network only, and only what the server lists', () => {
    const policy = policyOf('open', { cidr: '10.0.0.0/8' }, { cidr: '127.0.0.1/32' }, { cidr: 'fd00::/8' });
    expect(codeOf(policy, to('a.example', '10.1.2.3'), anything)).toBe('allowed');
    expect(codeOf(policy, to('a.example', '10.1.2.3'))).toBe('ceiling');
    expect(codeOf(policy, to('a.example', OWN), anything)).toBe('special_address');
    expect(codeOf(policy, to(undefined, '127.0.0.1', 80), anything)).toBe('allowed');
    expect(codeOf(policy, to(undefined, '127.0.0.2', 80), anything)).toBe('special_address');
    expect(codeOf(policy, to(undefined, 'fd00::1'), anything)).toBe('allowed');
  });

  it('about a connection leaves rules about requests open', () => {
    const policy = policyOf(
      'allow_list',
      { host: 'api.example', methods: ['GET'], path_prefix: '/repos', tls: 'inspect' },
      { action: 'deny', host: 'api.example', path_prefix: '/repos/secret', tls: 'inspect' },
    );
    const request = (method: string, path: string) => codeOf(policy, { ...to('api.example'), method, path });
    expect(decide(policy, to('api.example'), limits)).toMatchObject({ allowed: true, inspect: true, rule: 0 });
    expect(request('GET', '/repos/a')).toBe('allowed');
    expect(request('get', '/repos/a')).toBe('allowed');
    expect(request('POST', '/repos/a')).toBe('not_allowed');
    expect(request('GET', '/')).toBe('not_allowed');
    for (const path of [
      '/repos/secret',
      '/repos/a/../secret',
      '/repos/%73ecret/x',
      '/repos//secret',
      '/repos/%2525252525252573ecret',
    ]) {
      expect(`${path} ${request('GET', path)}`).toBe(`${path} denied_by_rule`);
    }
    const free = policyOf('allow_list', { host: 'a.example' }, { host: 'a.example', methods: ['GET'], ports: [80] });
    expect(decide(free, to('a.example', undefined, 80), limits)).toMatchObject({
      allowed: true,
      inspect: false,
      rule: 0,
    });
  });
});

describe('an explanation', () => {
  it('names the rule that decides, and those that would', () => {
    const policy = policyOf(
      'allow_list',
      { host: '*.example.org', preset: 'npm' },
      { action: 'deny', host: 'evil.example.org' },
    );
    const { decision, winner, beaten, host, reason } = explain(policy, to('EVIL.example.org.'), limits);
    expect({ ...decision, winner: winner?.index, beaten: beaten.map(({ index }) => index), host }).toMatchObject({
      allowed: false,
      winner: 1,
      beaten: [0],
      host: 'evil.example.org',
    });
    expect(reason).toBe(
      'rules[1] (deny, evil.example.org) denies it. Next is rules[0] (allow, *.example.org, preset npm), because a denial decides first.',
    );
    expect(explain(policy, to('a.example.org'), limits).reason).toMatch(
      /^rules\[0\] .* allows it. The address .* must be public/,
    );
    expect(explain(policy, to('169.254.169.254'), limits).reason).toBe(
      '169.254.169.254 is a link-local address, as the metadata services of clouds have: a rule with the cidr of this address or of its part of that network and network.allow_max of the server allow it, both together.',
    );
    expect(explain(policyOf('open'), to('169.254.169.254'), limits).reason).toMatch(
      /link-local address, as the metadata/,
    );
  });
});
