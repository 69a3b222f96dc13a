import { expect, it } from 'vitest';
import { refusedText } from '../../../clients/cli/src/exec/refused-hosts.ts';
import { settingsThatAllow } from '../../../clients/cli/src/exec/settings-that-allow.ts';
import {
  refusedByRules,
  refusedText as refusedPathText,
  refusedSince,
} from '../../../clients/cli/src/run/refused-paths.ts';
import { emptyDirectory, put } from '../../directory.ts';

const denied = (host: string, port = 0, code = 'not_allowed') => ({ host, port, code, reason: '', address: '' });

it('refused hosts are named with the command that allows them', () => {
  expect(refusedText('sb_1', [denied('pypi.org'), denied('pypi.org', 443), denied('a.example', 8443)])).toBe(
    'paddock: refused by the network policy: pypi.org (not_allowed), pypi.org:443 (not_allowed), a.example:8443 (not_allowed); to allow: paddock network allow sb_1 pypi.org a.example:8443',
  );
  expect(
    refusedText(
      'sb_1',
      [1, 2, 3, 4, 5].map((at) => denied(`h${at}`, 0, 'denied_by_rule')),
    ),
  ).toBe(
    'paddock: refused by the network policy: h3 (denied_by_rule), h4 (denied_by_rule), h5 (denied_by_rule) and 2 more',
  );
});

it('hosts that a sandbox was refused that is gone afterwards are named with the option that allows them', () => {
  expect(refusedText(undefined, [denied('pypi.org', 443), denied('a.example', 8443)])).toMatch(
    /; to allow: --allow pypi.org --allow a.example:8443$/,
  );
});

it('a name that a shell would carry out is in no command', () => {
  const text = refusedText('sb_1', [denied('$(reboot).example'), denied('-x'), denied('a\u001b[2Jb')]);
  expect(text).not.toContain('to allow');
  expect(text).not.toContain('\u001b');
});

it('refused paths are named with their rules, and with the options that permit them', () => {
  const at = (path: string, code: string, permission: string, pattern: string) =>
    ({
      path,
      code,
      reason: '',
      count: 1,
      rule: { index: 0, rule: { permission, pattern, type: 'glob' } },
    }) as never;
  expect(refusedByRules([])).toBe('');
  expect(refusedByRules([at('a\u001b[2J', 'read_only', 'read', '/**')])).toBe(
    'paddock: 1 path was refused by the rules: a\\x1b[2J (read /**); to permit: --rule write:PATTERN',
  );
  const many = ['a', 'b', 'c', 'd'].map((name) => at(`secrets/${name}`, 'hidden', 'none', 'secrets/**'));
  expect(refusedByRules(many)).toBe(
    'paddock: 4 paths were refused by the rules: secrets/a (none secrets/**), secrets/b (none secrets/**), secrets/c (none secrets/**), and 1 more; to permit: --rule read:PATTERN',
  );
});

it('a path that was refused is listed with the rule that decides', () => {
  const read = { pattern: '/docs/**', permission: 'read', type: 'glob', priority: 0 };
  const refusal = { path: 'docs/a', code: 'read_only', reason: 'commands can read the path', count: 2 };
  expect(refusedPathText({ ...refusal, rule: { index: 0, rule: read } } as never)).toBe(
    'docs/a: commands can read the path (read /docs/**; 2 times)',
  );
  expect(refusedPathText({ ...refusal, count: 1 })).toBe('docs/a: commands can read the path (1 time)');
});

const home = emptyDirectory();

it('a mirror at a private address is named with the two settings that allow it', () => {
  const local = { env: { HOME: home }, connection: () => ({ url: '', key: undefined, from: 'default' as const }) };
  const mirror = { ...denied('mirror.corp', 8081, 'special_address'), address: '10.0.0.5' };
  const usual = { ...denied('fd00::5', 443, 'special_address'), address: 'fd00::5' };
  const ceiling = { ...mirror, code: 'ceiling' };
  expect(settingsThatAllow(undefined, [denied('pypi.org', 443)], local)).toBe('');
  expect(settingsThatAllow(undefined, [mirror, mirror, usual], local).split('\n')).toEqual([
    'paddock: mirror.corp:8081 is at 10.0.0.5, which is not a public address; these two lines allow it:',
    `  network: {allow_max: [public, 10.0.0.5, "fd00::5"]}    # in ${home}/.config/paddock/server.yaml`,
    '  network: {allow: [10.0.0.5:8081, "fd00::5"]}    # in .paddock.yaml, or --allow',
  ]);
  put(home, '.config/paddock/server.yaml', 'network: {allow_max: ["*.corp:443"]}', 0o600);
  expect(settingsThatAllow('sb_1', [mirror], local)).toMatch(
    /allow_max: \["\*.corp:443", 10.0.0.5\]}.*\n {2}paddock network allow sb_1 10.0.0.5:8081$/,
  );
  const remote = { ...local, connection: () => ({ url: '', key: undefined, from: 'option' as const }) };
  expect(settingsThatAllow('sb_1', [ceiling], remote)).toMatch(
    /this line allows it:\n {2}network: {allow_max: \[public, 10.0.0.5\]} {4}# in the configuration of the server$/,
  );
});

it('of the paths that were refused in a sandbox a command is told those that it tried', () => {
  const path = (name: string, count: number) => ({ path: name, code: 'hidden', reason: '', count }) as never;
  expect(refusedSince([path('a', 1), path('b', 2)], [path('a', 1), path('b', 3), path('c', 1)])).toEqual([
    path('b', 3),
    path('c', 1),
  ]);
});
