import { isIP } from 'node:net';

/**
 * Normalizes a host: lower case, without the trailing dot of a fully qualified name, the zone of an address, and the
 * IPv6 prefix of a mapped IPv4 address.
 */
export function normalizedHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/%.*$/, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
}

/** The normalized host of `host[:port]`, or undefined if that is not valid. */
export function hostNameOf(authority: string): string | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:/?#@[\]\s]+))(?::\d*)?$/i.exec(authority);
  const name = match?.[1] ?? match?.[2];
  return name && normalizedHost(name);
}

/** Whether both name the same host; their ports may differ. */
export function isSameHost(one: string, other: string): boolean {
  return one === other || (hostNameOf(one) !== undefined && hostNameOf(one) === hostNameOf(other));
}

/** Whether only this machine reaches a listener bound to `host`; empty means all interfaces. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** In the notation of the configuration file. */
export function addressText({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
