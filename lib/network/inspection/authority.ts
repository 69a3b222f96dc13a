import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { errorCode } from '../../linux/errno.ts';
import { authorityCertificate, type Issuer, serverCertificate } from './certificate.ts';

const YEAR_MS = 365 * 24 * 3600_000;
const DAY_MS = 24 * 3600_000;
const MAX_NAMES = 1000;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** The certificate and the private key of a server's own authority, in PEM. The key never leaves the server. */
export interface AuthorityFiles {
  certificate: string;
  key: string;
}

/**
 * The authority in the file `path`, which is made if it does not exist, or if less than a year of it is left: sandboxes
 * that run then trust the new one after their next start. A file that is damaged, or that others can use, is an error.
 */
export async function openAuthority(path: string, now: number): Promise<AuthorityFiles> {
  const stored = await readAuthority(path);
  if (stored !== undefined && Date.parse(new X509Certificate(stored.certificate).validTo) - now > YEAR_MS)
    return stored;
  const made = makeAuthority(now);
  const temporary = `${path}.tmp`;
  await rm(temporary, { force: true });
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(made.key + made.certificate);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  const directory = await open(dirname(path), 'r');
  await directory.sync().finally(() => directory.close());
  return made;
}

async function readAuthority(path: string): Promise<AuthorityFiles | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new Error(`the authority ${path} cannot be read: ${errorCode(error)}`, { cause: error });
  }
  try {
    if (((await file.stat()).mode & 0o077) !== 0) {
      throw new Error(`the authority ${path} can be used by others: it must have mode 0600`);
    }
    const text = await file.readFile('utf8');
    const key = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n/.exec(text)?.[0];
    const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(text)?.[0];
    if (!key || !certificate || !belongs(certificate, key)) throw new Error(`the authority ${path} is damaged`);
    return { certificate, key };
  } finally {
    await file.close();
  }
}

function belongs(certificate: string, key: string): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

function makeAuthority(now: number): AuthorityFiles {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // Unlike that of every other server, so that nothing mistakes one for another.
  const issuer = { name: `Paddock ${randomBytes(8).toString('hex')}`, ...keys };
  const certificate = authorityCertificate(issuer, new Date(now - DAY_MS), new Date(now + 10 * YEAR_MS));
  return { certificate, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Makes certificates for names, and keeps the last ones. */
export class ServerCertificates {
  readonly #issuer: Issuer;
  readonly #authority: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #contexts = new Map<string, { context: SecureContext; until: number }>();

  constructor({ certificate, key }: AuthorityFiles) {
    const privateKey = createPrivateKey(key);
    const name = new X509Certificate(certificate).subject.replace(/^CN=/, '');
    this.#issuer = { name, privateKey, publicKey: createPublicKey(privateKey) };
    this.#authority = certificate;
  }

  /** What a TLS server of the name `host` needs. */
  contextFor(host: string, now = Date.now()): SecureContext {
    const known = this.#contexts.get(host);
    if (known !== undefined && known.until > now) {
      this.#contexts.delete(host);
      this.#contexts.set(host, known);
      return known.context;
    }
    const { privateKey, publicKey } = this.#keys;
    const cert = serverCertificate(this.#issuer, host, publicKey, new Date(now - DAY_MS), new Date(now + 30 * DAY_MS));
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const context = createSecureContext({ key, cert: cert + this.#authority, minVersion: 'TLSv1.2' });
    if (this.#contexts.size >= MAX_NAMES) this.#contexts.delete(this.#contexts.keys().next().value!);
    this.#contexts.set(host, { context, until: now + DAY_MS });
    return context;
  }
}

/** Where Linux distributions have the authorities that the host trusts. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** The authorities that the host trusts, in PEM; undefined: it has none in a known place. */
export async function hostBundle(places: readonly string[] = BUNDLES): Promise<string | undefined> {
  for (const path of places) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text.endsWith('\n') ? text : `${text}\n`;
  }
  return undefined;
}
