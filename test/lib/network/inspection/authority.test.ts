import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openAuthority, ServerCertificates } from '../../../../lib/network/inspection/authority.ts';
import { serverCertificate } from '../../../../lib/network/inspection/certificate.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paddock-authority-'));
  path = join(folder, 'authority.pem');
});
afterEach(() => rm(folder, { recursive: true }));

const YEAR = 365 * 24 * 3600_000;

it('makes an authority once, whose file others cannot read', async () => {
  const now = Date.now();
  const made = await openAuthority(path, now);
  expect(await openAuthority(path, now)).toEqual(made);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const certificate = new X509Certificate(made.certificate);
  expect(certificate.ca).toBe(true);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(Date.parse(certificate.validTo) - now).toBeGreaterThan(9.9 * YEAR);
  expect((await openAuthority(path, now + 9.5 * YEAR)).certificate).not.toBe(made.certificate);
});

it('refuses a file that others can use, or that is damaged', async () => {
  await openAuthority(path, Date.now());
  await chmod(path, 0o644);
  await expect(openAuthority(path, Date.now())).rejects.toThrow(/must have mode 0600/);
  await chmod(path, 0o600);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.slice(0, -40));
  await expect(openAuthority(path, Date.now())).rejects.toThrow(/is damaged/);
});

it.each(['api.github.com', `${'a'.repeat(60)}.${'b'.repeat(60)}.example`])(
  'OpenSSL accepts a certificate for %s, with strict checks',
  async (host) => {
    const files = await openAuthority(path, Date.now());
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const authority = new X509Certificate(files.certificate);
    const name = authority.subject.replace('CN=', '');
    const signer = { name, publicKey: authority.publicKey, privateKey: createPrivateKey(files.key) };
    const from = new Date(Date.now() - 1000);
    const leaf = serverCertificate(signer, host, publicKey, from, new Date(Date.now() + YEAR / 12));
    await writeFile(join(folder, 'ca'), files.certificate);
    await writeFile(join(folder, 'leaf'), leaf);
    const verify = ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', host];
    const output = execFileSync('openssl', [...verify, '-CAfile', join(folder, 'ca'), join(folder, 'leaf')]);
    expect(output.toString()).toMatch(/: OK/);
    expect(new X509Certificate(leaf).checkHost(host)).toBe(host);
    expect(new X509Certificate(leaf).checkHost(`x.${host}`)).toBeUndefined();
  },
);

it('keeps the contexts of a bounded number of names', async () => {
  const certificates = new ServerCertificates(await openAuthority(path, Date.now()));
  const first = certificates.contextFor('a.example');
  expect(certificates.contextFor('a.example')).toBe(first);
  expect(certificates.contextFor('a.example', Date.now() + 2 * 24 * 3600_000)).not.toBe(first);
});
