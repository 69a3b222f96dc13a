import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ServiceError } from '../../lib/errors.ts';

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
    this.#bound = plain(bound);
    this.#allowed = new Set(allowed.map(plain));
  }

  /**
   * Throws INVALID_ARGUMENT for several Host fields (RFC 9112 section 3.2): Node returns the first, and a proxy in
   * front of this server may have used the last. Throws PERMISSION_DENIED unless Host, and Origin if present, are
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

/** `rawHeaders`: names and values alternate. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]!;
    if (given.length === name.length && given.toLowerCase() === name) count++;
  }
  return count;
}

/**
 * Normalizes a host: lower case, without the trailing dot of a fully qualified name, the zone of an address, and the
 * IPv6 prefix of a mapped IPv4 address.
 */
function plain(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
}

/** The host without its port, or undefined if it is not a valid host. */
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
