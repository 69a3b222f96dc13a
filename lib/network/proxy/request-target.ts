import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { type Destination, Refused } from './gate.ts';

/** What a request asks for. */
export interface RequestTarget {
  destination: Destination;
  /** The name in the Host header, where the connection is to an address. */
  claimed: string | undefined;
  /** The value of the Host header. */
  authority: string;
  /** With the query, as it is passed on. */
  path: string;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,255})(?::(\d{1,5}))?$/i;
const ABSOLUTE = /^http:\/\/([^/?#]*)(.*)$/is;

/** `host` is lower case, without brackets and trailing dot. Destinations are written in the same form. */
export function parseAuthority(text: string, defaultPort?: number): { host: string; port: number } | undefined {
  const [, host, digits] = AUTHORITY.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { host: host.toLowerCase().replace(/^\[(.*)\]$|\.$/g, '$1'), port };
}

export function destinationOf({ host, port }: { host: string; port: number }): Destination {
  return isIP(host) === 0 ? { host, address: undefined, port } : { host: undefined, address: host, port };
}

/**
 * Reads where a request goes. `connected`: where its connection goes, which Host must name; undefined: the connection is to
 * the proxy, and the request names its destination itself. Throws `Refused`: servers disagree about requests that name two
 * hosts.
 */
export function requestTarget(request: IncomingMessage, connected: Destination | undefined): RequestTarget {
  const hosts = request.rawHeaders.filter((_, at, all) => at % 2 === 1 && all[at - 1]!.toLowerCase() === 'host');
  if (hosts.length !== 1) throw new Refused('host_mismatch', `the request has ${hosts.length} Host headers`);
  const defaultPort = connected && isWeb(connected.port) ? connected.port : 80;
  const host = parseAuthority(hosts[0]!, defaultPort);
  if (host === undefined) throw new Refused('host_mismatch', 'the Host header is no host');
  const path = pathOf(request, connected === undefined, (authority) => {
    const named = parseAuthority(authority, defaultPort);
    if (named?.host !== host.host || named.port !== host.port) {
      throw new Refused('host_mismatch', 'the Host header is not the host of the URL');
    }
  });
  const destination = connected ?? destinationOf(host);
  if (!isSame(destination, host)) {
    throw new Refused(
      'host_mismatch',
      `the Host header names ${host.host}:${host.port}, which is not where the connection goes`,
    );
  }
  const claimed = destination.host === undefined && isIP(host.host) === 0 ? host.host : undefined;
  return { destination, claimed, authority: hosts[0]!, path };
}

const isWeb = (port: number) => port === 80 || port === 443;

/** A connection to an address may name any host that the policy allows there. */
function isSame(destination: Destination, host: { host: string; port: number }): boolean {
  if (destination.port !== host.port) return false;
  if (destination.host !== undefined) return destination.host === host.host;
  return isIP(host.host) === 0 || destination.address === host.host;
}

function pathOf(request: IncomingMessage, toProxy: boolean, check: (authority: string) => void): string {
  const url = request.url ?? '';
  const absolute = ABSOLUTE.exec(url);
  if (absolute) {
    check(absolute[1]!);
    return absolute[2]!.startsWith('/') ? absolute[2]! : `/${absolute[2]}`;
  }
  if (toProxy) throw new Refused('bad_request', 'the proxy takes http:// URLs, and CONNECT for everything else');
  if (url.startsWith('/') || (url === '*' && request.method === 'OPTIONS')) return url;
  throw new Refused('bad_request', 'the target of the request is neither a path nor an http:// URL');
}
