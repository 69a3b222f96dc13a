import { expect, it } from 'vitest';
import { networkOf, ruleOf } from '../../../clients/cli/src/options/network.ts';

it('a host has ports behind a colon; an address or a network is one of IPv4 or IPv6', () => {
  expect(ruleOf('allow', 'api.example.com')).toEqual({ action: 'allow', ports: [], host: 'api.example.com' });
  expect(ruleOf('deny', '*.example.com:443,8443')).toEqual({
    action: 'deny',
    ports: [443, 8443],
    host: '*.example.com',
  });
  expect(ruleOf('allow', '10.1.0.0/16:22')).toEqual({ action: 'allow', ports: [22], cidr: '10.1.0.0/16' });
  expect(ruleOf('allow', '2001:db8::/32')).toEqual({ action: 'allow', ports: [], cidr: '2001:db8::/32' });
  expect(ruleOf('allow', '[::1]:8080')).toEqual({ action: 'allow', ports: [8080], cidr: '::1' });
  for (const bad of ['', ':443', 'a:b', 'http://a']) expect(() => ruleOf('allow', bad)).toThrow(/--allow is a host/);
});

it('the mode is allow_list with rules or presets; nothing without options', () => {
  expect(networkOf({})).toBeUndefined();
  expect(networkOf({ 'allow-preset': ['npm'] })).toEqual({ mode: 'allow_list', rules: [], presets: ['npm'] });
  expect(networkOf({ network: 'open', deny: ['a'] })).toMatchObject({ mode: 'open', rules: [{ action: 'deny' }] });
  expect(() => networkOf({ network: 'all' })).toThrow(/--network is none, allow_list, open/);
});
