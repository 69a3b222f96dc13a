import { expect, it } from 'vitest';
import { commonHosts, isWithinHosts, matchesHost, SECRET_HOST } from '../../../../lib/network/secrets/hosts.ts';
import { newPlaceholder } from '../../../../lib/network/secrets/placeholder.ts';

it('a placeholder has the asked form, and another one each time', () => {
  const form = { name: 'a.b', shape: '' };
  expect(newPlaceholder(form)).toMatch(/^pdk_secret_a\.b_[0-9a-f]{16}$/);
  expect(newPlaceholder(form)).not.toBe(newPlaceholder(form));
  expect(newPlaceholder({ name: 'a', shape: 'ghp_' })).toMatch(/^ghp_[A-Za-z0-9]{36}$/);
  expect(newPlaceholder({ name: 'a', shape: 'AKIA' })).toMatch(/^AKIA[A-Z2-7]{16}$/);
  expect(newPlaceholder({ name: 'a', shape: 'own-' })).toMatch(/^own-[A-Za-z0-9]{32}$/);
  expect(newPlaceholder({ name: 'a', shape: 'ghp_', length: 20 })).toMatch(/^ghp_[A-Za-z0-9]{16}$/);
  expect(newPlaceholder({ name: 'a', shape: '', length: 16 })).toHaveLength(16);
  expect(() => newPlaceholder({ name: 'a', shape: 'ghp_', length: 19 })).toThrow(/keep_length/);
});

it('hosts are names, or all names below one', () => {
  const pattern = new RegExp(`^(?:${SECRET_HOST})$`, 'u');
  for (const host of ['a.example', 'registry', '*.a.example', 'xn--bcher-kva.example', '_dmarc.a.example', 'a1.4chan'])
    expect([host, pattern.test(host)]).toEqual([host, true]);
  for (const host of [
    '',
    '*',
    '*.com',
    '.a',
    'a.',
    'a..b',
    '-a.b',
    '1.2.3.4',
    '::1',
    'A.b',
    'a b',
    `${'a.'.repeat(127)}b`,
  ])
    expect([host, pattern.test(host)]).toEqual([host, false]);
  expect(matchesHost('*.a.b', 'c.a.b')).toBe(true);
  for (const host of ['a.b', '.a.b', 'ca.b', 'c.a.b.d'])
    expect([host, matchesHost('*.a.b', host)]).toEqual([host, false]);
});

it('a binding can only narrow the hosts of a secret', () => {
  const outer = ['*.a.example', 'b.example'];
  for (const inner of ['*.a.example', 'x.a.example', '*.x.a.example', 'b.example'])
    expect([inner, isWithinHosts(outer, inner)]).toEqual([inner, true]);
  for (const inner of ['a.example', '*.example', 'x.b.example', '*.b.example', 'xa.example'])
    expect([inner, isWithinHosts(outer, inner)]).toEqual([inner, false]);
  expect(commonHosts(outer, ['x.a.example', 'c.example'])).toEqual(['x.a.example']);
  expect(commonHosts(['x.a.example'], outer)).toEqual(['x.a.example']);
});
