import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { contextOf, readTls, type TlsPaths } from '../../adapters/tls/material.ts';
import { Authority, type KeyPair } from '../certificates.ts';
import { directoryOfFile } from '../directory.ts';

const DAY = 86_400_000;

const directory = directoryOfFile();
let authority: Authority;
let pair: KeyPair;
let other: KeyPair;

beforeAll(async () => {
  authority = await Authority.create(directory);
  pair = await authority.issue('server');
  other = await authority.issue('other');
});

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

/** The error for the files; '' if they can be used. */
async function refusal(more: Partial<TlsPaths>, now = Date.now()): Promise<string> {
  const paths = { ...pair, clientCa: '', ...more };
  try {
    contextOf(await readTls(paths), paths, now);
    return '';
  } catch (error) {
    const { message } = error as Error;
    expect(message).not.toContain('\n');
    expect(message).not.toContain('PRIVATE');
    return message;
  }
}

describe('TLS files', () => {
  it('are used if certificate, key and authority are valid', async () => {
    expect(await refusal({ clientCa: authority.certificate })).toBe('');
  });

  it('of which one cannot be read are refused', async () => {
    expect(await refusal({ certificate: '/no/such' })).toBe('server.tls.certificate: /no/such cannot be read: ENOENT');
    expect(await refusal({ key: '/no/such' })).toBe('server.tls.key: /no/such cannot be read: ENOENT');
    expect(await refusal({ clientCa: '/no/such' })).toBe('server.tls.client_ca: /no/such cannot be read: ENOENT');
    expect(await refusal({ key: directory })).toBe(`server.tls.key: ${directory} is not a file`);
    expect(await refusal({ key: '/dev/zero' })).toBe('server.tls.key: /dev/zero is not a file');
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await refusal({ certificate: pipe })).toBe(`server.tls.certificate: ${pipe} is not a file`);
    const large = file('large', Buffer.alloc(2 ** 20 + 1));
    expect(await refusal({ certificate: large })).toBe(`server.tls.certificate: ${large} has more than 1048576 bytes`);
  });

  it.each([
    ['nothing', ''],
    ['garbage', 'garbage'],
    ['bytes', Buffer.from([0, 255, 10, 45])],
    ['a block without a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ])('with %s are refused', async (name, content) => {
    const path = file(name, content);
    expect(await refusal({ certificate: path })).toBe(
      `server.tls.certificate: ${path} does not consist of certificates in PEM`,
    );
    expect(await refusal({ clientCa: path })).toBe(
      `server.tls.client_ca: ${path} does not consist of certificates in PEM`,
    );
    expect(await refusal({ key: path })).toBe(`server.tls.key: ${path} is not a private key in PEM`);
  });

  it('with a key that has a passphrase are refused', async () => {
    const key = join(directory, 'encrypted.pem');
    execFileSync('openssl', ['pkey', '-in', pair.key, '-aes128', '-passout', 'pass:x', '-out', key]);
    expect(await refusal({ key })).toBe(`server.tls.key: ${key} has a passphrase: one without is required`);
  });

  it('with the key of another certificate are refused', async () => {
    expect(await refusal({ key: other.key })).toBe(
      `server.tls.key: ${other.key} is not the private key of the certificate in ${pair.certificate}`,
    );
  });

  it('with a certificate that has expired or is not valid yet are refused', async () => {
    const { certificate } = pair;
    expect(await refusal({}, Date.now() + 3 * DAY)).toMatch(
      /^server\.tls\.certificate: \S+server\.pem expired on \w{3} .* GMT$/,
    );
    expect(await refusal({}, Date.now() - DAY)).toContain(`${certificate} is not valid before`);
  });

  it('with a client_ca that is no authority are refused', async () => {
    expect(await refusal({ clientCa: other.certificate })).toBe(
      `server.tls.client_ca: ${other.certificate} has a certificate that is not of an authority`,
    );
  });

  it('with a key that is too weak for TLS are refused', async () => {
    const [certificate, key] = [join(directory, 'weak.pem'), join(directory, 'weak-key.pem')];
    const args = `req -x509 -newkey rsa:512 -nodes -days 2 -subj /CN=weak -out ${certificate} -keyout ${key}`;
    execFileSync('openssl', args.split(' '), { stdio: 'ignore' });
    expect(await refusal({ certificate, key })).toMatch(
      /^server\.tls\.certificate: \S+weak\.pem is not usable: .*small/,
    );
  });
});
