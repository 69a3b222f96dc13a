import { contains, parseCidr } from '../policy/cidr.ts';
import type { NetworkPolicy } from '../policy/policy.ts';
import { NAME_PORT, PROXY_PORT } from '../proxy/sandbox-network.ts';

/** What a policy needs in the namespace of its sandbox. */
export interface Wanted {
  /** Ports on which connections to fake addresses and allowed networks arrive. */
  ports: ReadonlySet<number>;
  /** Networks whose addresses arrive there. */
  routes: ReadonlySet<string>;
}

/** Listeners of one sandbox. Connections to other ports go through the proxy. */
const MAX_PORTS = 128;
const WEB_PORTS = [80, 443];
/** In mode open: ssh, mail and git. Above 1023 programs of the sandbox listen themselves. */
const OPEN_PORTS = [22, 465, 587, 993, 995];
const FAKE_ADDRESSES = '198.18.0.0/15';
const EVERYTHING = '0.0.0.0/0';
const LOOPBACK = parseCidr('127.0.0.0/8')!;

export function wantedBy({ mode, rules }: NetworkPolicy): Wanted {
  const allowing = rules.filter(({ action }) => action === 'allow');
  const named = allowing.flatMap(({ ports }) => ports).filter((port) => port !== NAME_PORT && port !== PROXY_PORT);
  const ports = [...WEB_PORTS, ...(mode === 'open' ? OPEN_PORTS : []), ...named];
  const networks = allowing.map(({ cidr }) => cidr).filter(isRouted);
  return {
    ports: new Set([...new Set(ports)].slice(0, MAX_PORTS)),
    routes: new Set([FAKE_ADDRESSES, ...(mode === 'open' ? [EVERYTHING] : networks)]),
  };
}

/** Loopback is the sandbox's own. IPv6 goes through the proxy. */
function isRouted(cidr: string): boolean {
  const network = cidr === '' ? undefined : parseCidr(cidr);
  return network !== undefined && network.bits === 32 && !contains(LOOPBACK, network);
}

export const added = <T>(from: ReadonlySet<T>, to: ReadonlySet<T>): T[] => [...to].filter((each) => !from.has(each));
