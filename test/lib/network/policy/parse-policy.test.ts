import { describe, expect, it } from 'vitest';
import type { NetworkRule as RuleRequest } from '../../../../lib/contract/messages.ts';
import { parseCeilingEntry } from '../../../../lib/network/policy/ceiling.ts';
import { parsePolicy } from '../../../../lib/network/policy/parse-policy.ts';
import type { Ceiling } from '../../../../lib/network/policy/policy.ts';
import { NETWORK_PRESETS } from '../../../../lib/network/policy/presets.ts';

const rule = (given: Partial<RuleRequest>): RuleRequest => ({
  host: '',
  cidr: '',
  ports: [],
  action: '',
  methods: [],
  path_prefix: '',
  tls: '',
  preset: '',
  ...given,
});
const parse = (rules: Partial<RuleRequest>[], presets: string[] = [], ceiling: Ceiling = undefined) =>
  parsePolicy({ mode: 'allow_list', rules: rules.map(rule), presets }, 3, ceiling, 'network.');

describe('a policy', () => {
  it('has its rules in one form', () => {
    const { rules, revision } = parse([
      { host: '*.Bücher.Example.', ports: [443, 80, 443] },
      { cidr: '8.8.9.9/16', action: 'deny' },
      { host: 'a.b', methods: ['post', 'GET'], path_prefix: '/x/../y/', tls: 'inspect' },
    ]);
    expect(revision).toBe(3);
    expect(rules).toMatchObject([
      { host: '*.xn--bcher-kva.example', ports: [80, 443], action: 'allow' },
      { cidr: '8.8.0.0/16', action: 'deny' },
      { methods: ['GET', 'POST'], path_prefix: '/y' },
    ]);
  });

  it('has the rules of its presets, each once, and is the same when its answer is sent back', () => {
    const { rules } = parse([{ host: 'pypi.org', preset: 'pypi' }], ['pypi', 'npm', 'npm']);
    expect(rules.map(({ host }) => host)).toEqual([
      ...['pypi.org', 'files.pythonhosted.org'],
      ...['registry.npmjs.org', 'registry.yarnpkg.com', 'repo.yarnpkg.com', 'nodejs.org'],
    ]);
    expect(
      parse(
        rules.map((each) => ({ preset: '', ...each })),
        ['npm'],
      ).rules,
    ).toEqual(rules);
  });

  it.each(NETWORK_PRESETS.map(({ name }) => name))(
    'is the same when the rules of the preset %s are sent back',
    (name) => {
      const { rules } = parse([], [name]);
      expect(parse(rules as RuleRequest[], [name]).rules).toEqual(rules);
    },
  );

  it.each<[string, Partial<RuleRequest>[], string[]?]>([
    ['network.rules[0] must have either host or cidr', [{}]],
    ['network.rules[1] must have either host or cidr', [{ host: 'a' }, { host: 'a', cidr: '1.0.0.0/8' }]],
    ['network.rules[0].host is an address and no name: use cidr', [{ host: '1.2.3.4' }]],
    ['network.rules[0].host may have "*" as its whole first label only, like *.example.org', [{ host: 'a.*.b' }]],
    ['network.rules[0].cidr must be a network', [{ cidr: '300.0.0.0/8' }]],
    ['network.rules[0].path_prefix must be the absolute path', [{ host: 'a', path_prefix: 'x', tls: 'inspect' }]],
    ['network.rules[0].methods needs tls: inspect, unless ports is 80 alone', [{ host: 'a', methods: ['GET'] }]],
    ['network.rules[0].path_prefix needs tls: inspect', [{ host: 'a', path_prefix: '/x', ports: [80, 443] }]],
    ['network.rules[0].tls needs host: a certificate is for a name', [{ cidr: '8.0.0.0/8', tls: 'inspect' }]],
    ['network.rules[0].preset must be empty, or the name of a preset', [{ host: 'a', preset: 'x' }]],
    ['network.presets[1] must be one of npm, pypi, debian', [], ['npm', 'nope']],
    [
      'network.rules must have at most 256 entries with those of the presets, not 258',
      Array.from({ length: 254 }, (_, at) => ({ host: `h${at}` })),
      ['npm'],
    ],
    ['network.rules[0].cidr exceeds what the server allows to its sandboxes', [{ cidr: '10.0.0.0/8' }]],
  ])('is refused: %s', (problem, rules, presets) => {
    expect(() => parse(rules, presets)).toThrow(problem);
  });

  it('has no rules without a network', () => {
    expect(() => parsePolicy({ mode: '', rules: [], presets: ['npm'] }, 1, undefined)).toThrow(
      'mode must be allow_list or open with rules or presets',
    );
    expect(parsePolicy({ mode: '', rules: [], presets: [] }, 1, undefined)).toEqual({
      mode: 'none',
      rules: [],
      revision: 1,
    });
  });

  it('has only rules that the server can allow', () => {
    const ceiling = ['*.example.org:443', '10.1.0.0/16', '[fd00::/8]:22,443'].map((text) => {
      const entry = parseCeilingEntry(text);
      if ('problem' in entry) throw new Error(entry.problem);
      return entry;
    });
    expect(parse([{ cidr: '10.0.0.0/8' }, { cidr: 'fd12::/16', ports: [22] }], [], ceiling).rules).toHaveLength(2);
    expect(() => parse([{ cidr: 'fd12::/16', ports: [80] }], [], ceiling)).toThrow('network.rules[0].cidr exceeds');
    const names = ceiling.slice(0, 1);
    expect(
      parse([{ host: 'a.example.org' }, { host: '*.org' }, { host: '*.a.example.org' }], [], names).rules,
    ).toHaveLength(3);
    for (const host of ['example.org', 'example.com', '*.com']) {
      expect(() => parse([{ host }], [], names)).toThrow('network.rules[0].host exceeds');
    }
  });
});

it.each(['', 'a b', '10.0.0.0/40', 'a:0', 'a:70000', 'a:b', '*', 'http://a'])('%j is no entry of a ceiling', (text) => {
  expect(parseCeilingEntry(text)).toHaveProperty('problem');
});

it('every preset is a valid policy', () => {
  for (const { name, rules } of NETWORK_PRESETS) expect(parse([], [name]).rules).toEqual(rules);
});
