import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ServiceError } from '../../lib/errors.ts';
import { hostNameOf, isLoopback, isSameHost, normalizedHost } from '../host-name.ts';
import { authorityOf } from './router.ts';

/** Limit of the cache of accepted hosts, which makes the check one look-up per request. */
const MAX_KNOWN = 1000;

/**
 * Checks the Host header. The threat: DNS rebinding. A web page whose name resolves to this server's address has the
 * server's origin in the browser's view; only the Host header reveals it. Accepted hosts: the address of the listener,
 * localhost if the listener includes it, and `allowed`. Browsers always send Host; a client without it is not a
 * browser.
 */
export class AcceptedHosts {
  readonly #bound: string;
  readonly #allowed: ReadonlySet<string>;
  readonly #known = new Set<string>();

  /** `bound`: the configured host; empty means all interfaces. `allowed`: names and addresses without ports. */
  constructor(bound: string, allowed: readonly string[]) {
    this.#bound = normalizedHost(bound);
    this.#allowed = new Set(allowed.map(normalizedHost));
  }

  /** See `requireOneHost`. Throws PERMISSION_DENIED unless Host, the target's host and Origin, as far as present, are accepted. */
  check(req: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket' | 'url'>): void {
    const {
      headers: { host, origin },
      socket,
      url = '/',
    } = req;
    requireOneHost(req);
    if (host !== undefined) this.#require('Host', host, socket.localAddress);
    const authority = authorityOf(url);
    if (authority !== undefined) this.#require('host of the request target', authority, socket.localAddress);
    if (origin !== undefined) this.#require('Origin', originHost(origin), socket.localAddress);
  }

  #require(header: string, host: string, localAddress = ''): void {
    const key = `${localAddress} ${host}`;
    if (this.#known.has(key)) return;
    const name = hostNameOf(host);
    if (name === undefined || !this.#accepts(name, normalizedHost(localAddress))) {
      const shown = JSON.stringify(host.slice(0, 200));
      throw new ServiceError(
        'PERMISSION_DENIED',
        `the ${header} ${shown} is neither this server's address nor in server.allowed_hosts`,
      );
    }
    if (this.#known.size < MAX_KNOWN) this.#known.add(key);
  }

  #accepts(name: string, localAddress: string): boolean {
    if (this.#allowed.has(name) || name === this.#bound) return true;
    const everywhere = this.#bound === '' || this.#bound === '0.0.0.0' || this.#bound === '::';
    if (name === 'localhost') return everywhere || isLoopback(this.#bound);
    if (isIP(name) === 0) return false;
    return name === localAddress || (everywhere && isOwnAddress(name));
  }
}

/**
 * Throws INVALID_ARGUMENT for several Host fields (RFC 9112 section 3.2): Node returns the first, and a proxy in front of this
 * server may have used the last. The same for an absolute request target of another host than Host (section 3.2.2).
 */
export function requireOneHost({
  headers: { host },
  rawHeaders,
  url = '/',
}: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'url'>): void {
  if (countOf('host', rawHeaders) > 1)
    throw new ServiceError('INVALID_ARGUMENT', 'a request must have one Host header');
  const authority = authorityOf(url);
  if (authority !== undefined && host !== undefined && !isSameHost(host, authority))
    throw new ServiceError('INVALID_ARGUMENT', 'the request target and the Host header must name the same host');
}

/** `rawHeaders`: names and values alternate. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]!;
    if (given.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}

function originHost(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) =>
    all?.some((each) => normalizedHost(each.address) === address),
  );
}
