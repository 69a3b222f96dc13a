import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ServiceError } from '../../lib/errors.ts';

/** Hosts found acceptable, kept so that a request costs one look-up. */
const MAX_KNOWN = 1000;

/**
 * The threat: DNS rebinding. A web page of a name whose address becomes this server's is of the same origin as the server,
 * for the browser; only the Host that it sends tells. Accepted are the addresses that are listened on, localhost where
 * that is one of them, and `allowed`. Browsers cannot leave Host out; a client that does is none.
 */
export class AcceptedHosts {
  readonly #bound: string;
  readonly #allowed: ReadonlySet<string>;
  readonly #known = new Set<string>();

  /** `bound`: the configured host; empty: all interfaces. `allowed`: names and addresses without ports. */
  constructor(bound: string, allowed: readonly string[]) {
    this.#bound = plain(bound);
    this.#allowed = new Set(allowed.map(plain));
  }

  /**
   * Throws INVALID_ARGUMENT for several Host fields (RFC 9112 section 3.2): Node shows the first, and what stands before
   * this server may have gone by the last. Throws PERMISSION_DENIED unless Host, and Origin where there is one, are
   * accepted.
   */
  check({
    headers: { host, origin },
    rawHeaders,
    socket,
  }: Pick<IncomingMessage, 'headers' | 'rawHeaders' | 'socket'>): void {
    if (countOf('host', rawHeaders) > 1)
      throw new ServiceError('INVALID_ARGUMENT', 'a request must have one Host header');
    if (host !== undefined) this.#require('Host', host, socket.localAddress);
    if (origin !== undefined) this.#require('Origin', originHost(origin), socket.localAddress);
  }

  #require(header: string, host: string, localAddress = ''): void {
    const key = `${localAddress} ${host}`;
    if (this.#known.has(key)) return;
    const name = nameOf(host);
    if (name === undefined || !this.#accepts(name, plain(localAddress))) {
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

/** `rawHeaders`: names and values in turn. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]!;
    if (given.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}

/** Lower case; without the dot of a full name, the zone of an address, and what makes an IPv4 address one of IPv6. */
function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
}

/** Without the port; undefined: it is no host. */
function nameOf(host: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:/?#@[\]\s]+))(?::\d*)?$/i.exec(host);
  const name = match?.[1] ?? match?.[2];
  return name && plain(name);
}

function originHost(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}

function isLoopback(bound: string): boolean {
  return bound === '::1' || bound === 'localhost' || (isIP(bound) === 4 && bound.startsWith('127.'));
}

function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => plain(each.address) === address));
}
