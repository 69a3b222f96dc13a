import { addressText, isLoopback } from '../adapters/host-name.ts';
import type { Config } from '../lib/config/schema.ts';

/**
 * What other machines can do, or read, at addresses that are not loopback. undefined: nothing to warn of. The addresses
 * are in the notation of the configuration file.
 */
export function warningOfOpenAddresses({
  auth,
  server: { grpcAddr, httpAddr, tls },
}: Pick<Config, 'auth' | 'server'>): { message: string; addresses: string[] } | undefined {
  const addresses = [grpcAddr, httpAddr].filter(({ host }) => !isLoopback(host)).map(addressText);
  if (addresses.length === 0) return undefined;
  if (auth.mode === 'off') {
    const who = tls.clientCa === '' ? 'whoever' : 'whoever has a certificate of server.tls.client_ca and';
    const may = 'can use, change and delete every sandbox and codebase and run commands';
    return { message: `auth.mode is off: ${who} reaches these addresses ${may}`, addresses };
  }
  if (tls.certificate !== '') return undefined;
  return { message: 'server.tls is not set: keys and files are sent in plain text at these addresses', addresses };
}
