import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Paths of PEM files. */
export interface KeyPair {
  certificate: string;
  key: string;
}

const USAGES = {
  server: ['subjectAltName=IP:127.0.0.1,DNS:localhost', 'extendedKeyUsage=serverAuth'],
  client: ['extendedKeyUsage=clientAuth'],
  authority: ['basicConstraints=critical,CA:TRUE', 'keyUsage=keyCertSign'],
};

/** A certificate authority of its own, made with openssl. All its files are in one directory, which the caller owns. */
export class Authority {
  readonly certificate: string;
  readonly #key: string;
  readonly #directory: string;

  private constructor(directory: string, { certificate, key }: KeyPair) {
    this.#directory = directory;
    this.certificate = certificate;
    this.#key = key;
  }

  static async create(directory: string, name = 'ca'): Promise<Authority> {
    return new Authority(directory, await issue(directory, name, `/CN=${name}`, USAGES.authority));
  }

  /** A certificate with the common name `name`, or with another subject, and its key. */
  issue(name: string, usage: 'server' | 'client' = 'server', subject = `/CN=${name}`): Promise<KeyPair> {
    return issue(this.#directory, name, subject, USAGES[usage], ['-CA', this.certificate, '-CAkey', this.#key]);
  }
}

async function issue(
  directory: string,
  name: string,
  subject: string,
  extensions: readonly string[],
  by: readonly string[] = [],
): Promise<KeyPair> {
  const pair = { certificate: join(directory, `${name}.pem`), key: join(directory, `${name}-key.pem`) };
  // The system's own configuration would add extensions.
  const config = join(directory, 'openssl.cnf');
  await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', pair.key];
  const text = ['-subj', subject, '-days', '2', ...extensions.flatMap((each) => ['-addext', each])];
  const args = ['req', '-x509', '-config', config, ...key, '-out', pair.certificate, ...text, ...by];
  await promisify(execFile)('openssl', args);
  return pair;
}
