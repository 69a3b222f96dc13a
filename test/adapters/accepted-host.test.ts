import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { AcceptedHosts } from '../../adapters/http/accepted-host.ts';

const OWN = Object.values(networkInterfaces()).flat()[0]!.address;

function isAccepted(
  hosts: AcceptedHosts,
  headers: { host?: string; origin?: string; url?: string },
  localAddress = '127.0.0.1',
) {
  try {
    const { url, ...fields } = headers;
    hosts.check({ headers: fields, rawHeaders: [], socket: { localAddress }, url } as unknown as Parameters<
      AcceptedHosts['check']
    >[0]);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'PERMISSION_DENIED', message: /server\.allowed_hosts/ });
    return false;
  }
}

describe('the check of the Host header', () => {
  it.each([
    ['', 'localhost:8080', true],
    ['', 'LocalHost.', true],
    ['', '127.0.0.1:8080', true],
    ['', OWN.includes(':') ? `[${OWN}]:1` : OWN, true],
    ['', '[::1]:8080', true],
    ['', 'evil.example:8080', false],
    ['', 'localhost.evil.example', false],
    ['', '8.8.8.8', false],
    ['', 'user@localhost', false],
    ['', 'localhost/x', false],
    ['', '', false],
    ['0.0.0.0', 'localhost', true],
    ['::', 'localhost', true],
    ['127.0.0.1', 'localhost', true],
    ['127.0.0.1', '127.0.0.1:99999', true],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', 'localhost', false],
    ['node.example', 'NODE.example:80', true],
  ])('of a server bound to %j returns for %j: %s', (bound, host, accepted) => {
    expect(isAccepted(new AcceptedHosts(bound, []), { host })).toBe(accepted);
  });

  it('accepts the hosts that the operator allows', () => {
    const hosts = new AcceptedHosts('', ['paddock.example.com', '203.0.113.9']);
    expect(isAccepted(hosts, { host: 'Paddock.example.com:443' })).toBe(true);
    expect(isAccepted(hosts, { host: '203.0.113.9' })).toBe(true);
    expect(isAccepted(hosts, { host: 'other.example.com' })).toBe(false);
  });

  it('accepts the local address of the connection', () => {
    const hosts = new AcceptedHosts('', []);
    expect(isAccepted(hosts, { host: '198.51.100.4' }, '::ffff:198.51.100.4')).toBe(true);
    expect(isAccepted(hosts, { host: '198.51.100.4' })).toBe(false);
  });

  it('accepts a missing Host header, because every browser sends one', () => {
    expect(isAccepted(new AcceptedHosts('', []), {})).toBe(true);
  });
});

it.each([
  ['http://localhost:8080/health', true],
  ['http://LOCALHOST', true],
  ['/health', true],
  ['http://evil.example/health', false],
  ['HTTPS://evil.example?x', false],
  ['http://localhost@evil.example/', false],
  ['http:///health', false],
])('the request target %s without a Host: %s', (url, accepted) => {
  expect(isAccepted(new AcceptedHosts('', []), { url })).toBe(accepted);
});

it.each([
  ['http://localhost:8080', true],
  ['http://evil.example', false],
  ['null', false],
])('the check of the Origin %s with an accepted Host returns %s', (origin, accepted) => {
  expect(isAccepted(new AcceptedHosts('', []), { host: 'localhost', origin })).toBe(accepted);
});
