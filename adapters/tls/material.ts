import { constants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';

/** Paths of PEM files; an empty `clientCa`: clients need no certificate. */
export interface TlsPaths {
  certificate: string;
  key: string;
  clientCa: string;
}

/** Contents of the files. */
export interface TlsContents {
  certificate: string;
  key: string;
  /** undefined: clients need no certificate. */
  clientCa: string | undefined;
}

/** Largest file that is read. A bundle of all public authorities has about 220 KiB. */
const MAX_BYTES = 2 ** 20;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads the files. Rejects with one sentence that names the key of the configuration and the file. */
export async function readTls(paths: TlsPaths): Promise<TlsContents> {
  return {
    certificate: await read('certificate', paths.certificate),
    key: await read('key', paths.key),
    clientCa: paths.clientCa === '' ? undefined : await read('client_ca', paths.clientCa),
  };
}

/** A pipe or a device in place of a file could block the read forever. */
async function read(name: string, path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return refuse(name, path, 'is not a file');
    if (found.size > MAX_BYTES) return refuse(name, path, `has more than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === undefined ? Promise.reject(error) : refuse(name, path, `cannot be read: ${code}`);
  }
}

/**
 * Checks the contents, and returns the complete options of a secure context. `now`: milliseconds since the epoch. Throws
 * one sentence that names the key of the configuration and the file, and contains nothing of a private key.
 */
export function contextOf(contents: TlsContents, paths: TlsPaths, now: number): SecureContextOptions {
  const [leaf] = certificatesOf('certificate', contents.certificate, paths.certificate);
  const when = validity(leaf!, now);
  if (when !== 'valid') refuse('certificate', paths.certificate, when);
  const key = privateKeyOf(contents.key, paths.key);
  if (!leaf!.checkPrivateKey(key)) {
    refuse('key', paths.key, `is not the private key of the certificate in ${paths.certificate}`);
  }
  const { clientCa } = contents;
  if (clientCa !== undefined) checkAuthorities(clientCa, paths.clientCa, now);
  const options: SecureContextOptions = {
    cert: contents.certificate,
    key: contents.key,
    ...(clientCa !== undefined && { ca: clientCa }),
    minVersion: 'TLSv1.2',
    // Without tickets no session is resumed, so every connection proves its client certificate anew.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | (clientCa === undefined ? 0 : constants.SSL_OP_NO_TICKET),
  };
  try {
    createSecureContext(options);
  } catch (error) {
    refuse('certificate', paths.certificate, `is not usable: ${(error as Error).message}`);
  }
  return options;
}

/** Time until which the first certificate of a file is valid. */
export function validUntil({ certificate }: TlsContents): Date {
  return new Date(new X509Certificate(certificate).validTo);
}

function certificatesOf(name: string, content: string, path: string): X509Certificate[] {
  try {
    const found = content.match(CERTIFICATE)?.map((pem) => new X509Certificate(pem));
    if (found !== undefined) return found;
  } catch {
    // Reported as having no certificates.
  }
  return refuse(name, path, 'does not consist of certificates in PEM');
}

function privateKeyOf(content: string, path: string): KeyObject {
  try {
    return createPrivateKey(content);
  } catch {
    const encrypted = content.includes('ENCRYPTED');
    return refuse('key', path, encrypted ? 'has a passphrase: one without is required' : 'is not a private key in PEM');
  }
}

/** A bundle may contain certificates that have expired, but not only these. */
function checkAuthorities(content: string, path: string, now: number): void {
  const authorities = certificatesOf('client_ca', content, path);
  if (!authorities.every(({ ca }) => ca)) refuse('client_ca', path, 'has a certificate that is not of an authority');
  const times = authorities.map((each) => validity(each, now));
  if (!times.includes('valid')) refuse('client_ca', path, times[0]!);
}

function validity({ validFrom, validTo }: X509Certificate, now: number): string {
  if (now < Date.parse(validFrom)) return `is not valid before ${validFrom}`;
  return now > Date.parse(validTo) ? `expired on ${validTo}` : 'valid';
}

function refuse(name: string, path: string, what: string): never {
  throw new Error(`server.tls.${name}: ${path} ${what}`);
}
