import { ConfigError } from './read.ts';
import type { Config } from './schema.ts';

/**
 * Checks the keys of `server.tls` together. A server must not listen in plain text, or without the checks of client
 * certificates, because one key of several is missing. The files are read later. Throws ConfigError.
 */
export function checkTls({ server: { tls }, auth }: Pick<Config, 'server' | 'auth'>, file: string): void {
  const { certificate, key, clientCa, bindOwners, adminNames } = tls;
  const refuse = (name: string, value: unknown, allowed: string): never => {
    throw new ConfigError(`${file}: server.tls.${name}: value ${JSON.stringify(value)} is not allowed: ${allowed}`);
  };
  if (certificate === '' && key !== '') refuse('certificate', '', 'the certificate of server.tls.key is required');
  if (certificate !== '' && key === '') refuse('key', '', 'the private key of server.tls.certificate is required');
  if (clientCa !== '' && certificate === '')
    refuse('client_ca', clientCa, 'server.tls.certificate is required with it');
  if (bindOwners && clientCa === '') refuse('bind_owners', true, 'server.tls.client_ca is required with it');
  if (bindOwners && auth.mode === 'off') refuse('bind_owners', true, 'auth.mode: keys is required with it');
  if (adminNames.length > 0 && !bindOwners) {
    refuse('admin_names', adminNames, 'server.tls.bind_owners: true is required with it');
  }
}
