import { expect, it } from 'vitest';
import { refusedText } from '../../../clients/cli/src/exec/refused.ts';
import { refusedByRules } from '../../../clients/cli/src/run/refused.ts';

const denied = (host: string, port = 0, code = 'not_allowed') => ({ host, port, code, reason: '' });

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
      rule: { index: 0, rule: { permission, pattern, type: 'PATTERN_GLOB' } },
    }) as never;
  expect(refusedByRules([])).toBe('');
  expect(refusedByRules([at('a\u001b[2J', 'read_only', 'PERMISSION_READ', '/**')])).toBe(
    'paddock: 1 path was refused by the rules: a\\x1b[2J (read /**); to permit: --rule write:PATTERN',
  );
  const many = ['a', 'b', 'c', 'd'].map((name) => at(`secrets/${name}`, 'hidden', 'PERMISSION_NONE', 'secrets/**'));
  expect(refusedByRules(many)).toBe(
    'paddock: 4 paths were refused by the rules: secrets/a (none secrets/**), secrets/b (none secrets/**), secrets/c (none secrets/**), and 1 more; to permit: --rule read:PATTERN',
  );
});
