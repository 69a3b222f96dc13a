import { expect, it } from 'vitest';
import { warningOfOpenAddresses } from '../../app/open-addresses.ts';

const NO_TLS = { certificate: '', key: '', clientCa: '', bindOwners: false, adminNames: [] };
const TLS = { ...NO_TLS, certificate: '/c', key: '/k' };
const LOOPBACK = { host: '127.0.0.1', port: 1 };

function warning(mode: 'off' | 'keys', tls: typeof NO_TLS, host = '') {
  const server = { grpcAddr: LOOPBACK, httpAddr: { host, port: 8080 }, allowedHosts: [], previewDomain: '', tls };
  return warningOfOpenAddresses({ auth: { mode }, server });
}

it('a server without authentication warns of addresses that other machines reach', () => {
  expect(warning('off', TLS)).toEqual({
    message: expect.stringMatching(/^auth\.mode is off: whoever reaches these addresses can use, change/),
    addresses: [':8080'],
  });
  expect(warning('off', NO_TLS, '::')?.addresses).toEqual(['[::]:8080']);
  expect(warning('off', { ...TLS, clientCa: '/a' })?.message).toContain('whoever has a certificate of server.tls');
});

it('a server with keys warns of addresses that other machines reach in plain text', () => {
  expect(warning('keys', NO_TLS)).toMatchObject({ message: expect.stringContaining('plain text') });
  expect(warning('keys', TLS)).toBeUndefined();
});

it.each(['127.0.0.1', '127.8.0.1', '::1', 'localhost'])('a server at %s warns of nothing', (host) => {
  expect(warning('off', NO_TLS, host)).toBeUndefined();
  expect(warning('keys', NO_TLS, host)).toBeUndefined();
});
