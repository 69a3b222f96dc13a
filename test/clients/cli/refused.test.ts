import { expect, it } from 'vitest';
import { refusedText } from '../../../clients/cli/src/exec/refused.ts';

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

it('a name that a shell would carry out is in no command', () => {
  const text = refusedText('sb_1', [denied('$(reboot).example'), denied('-x'), denied('a\u001b[2Jb')]);
  expect(text).not.toContain('to allow');
  expect(text).not.toContain('\u001b');
});
