import type { Address } from './addresses.ts';
import { contains, type Network, parseCidr } from './cidr.ts';

/**
 * Networks that are not the public internet: the registries of IANA for special purposes, with what they call reserved
 * (https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry), and addresses at which
 * clouds have services for their machines. `isHost`: addresses of the machine itself.
 */
const SPECIAL: readonly { network: Network; what: string; isHost?: true }[] = [
  ...networks('an address of the machine itself', ['127.0.0.0/8', '::1/128'], true),
  ...networks('an address of "this" network', ['0.0.0.0/8', '::/128']),
  ...networks('a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']),
  ...networks('an address of a shared network (carrier-grade NAT)', ['100.64.0.0/10']),
  ...networks('a link-local address, as the metadata services of clouds have', ['169.254.0.0/16', 'fe80::/10']),
  // Public, but a service of Azure for its machines.
  ...networks('an address of a cloud for its machines', ['168.63.129.16/32']),
  ...networks('an address for protocols', [
    '192.0.0.0/24',
    '192.88.99.0/24',
    '2001::/23',
    '5f00::/16',
    '64:ff9b:1::/48',
  ]),
  ...networks('an address for documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']),
  ...networks('an address for documentation', ['2001:db8::/32', '3fff::/20']),
  ...networks('an address for benchmarks', ['198.18.0.0/15']),
  ...networks('a discarded address', ['100::/64', '100:0:0:1::/64']),
  ...networks('a multicast address', ['224.0.0.0/4', 'ff00::/8']),
  ...networks('a reserved address', ['240.0.0.0/4']),
];

/** The IPv6 addresses that are assigned to the internet. */
const GLOBAL = parseCidr('2000::/3')!;

/** IPv6 networks whose addresses have an IPv4 address in them, to which a translator or a tunnel forwards. */
const EMBEDDING = [
  { network: parseCidr('64:ff9b::/96')!, shift: 0n },
  { network: parseCidr('2002::/16')!, shift: 80n },
];

export interface SpecialAddress {
  /** A noun with its article. */
  what: string;
  /** The network that it is special in; undefined: it is reserved. */
  network: Network | undefined;
  isHost: boolean;
}

/** What is special about an address; undefined: it is public. */
export function specialAddress(address: Address): SpecialAddress | undefined {
  const found = SPECIAL.find(({ network }) => contains(network, address));
  if (found) return { what: found.what, network: found.network, isHost: found.isHost ?? false };
  if (address.bits === 32) return undefined;
  const inner = embedded(address);
  if (inner !== undefined)
    return specialAddress(inner) && { what: forwarded(inner), network: undefined, isHost: false };
  return contains(GLOBAL, address) ? undefined : { what: 'a reserved address', network: undefined, isHost: false };
}

/** The bits that a network must name at least of a special one that is not known. */
const LEAST_BITS = 8;

/** Whether a network that has a special address means it: it is not larger than the special network. */
export function namesPart(network: Network, special: SpecialAddress): boolean {
  return network.length >= (special.network?.length ?? LEAST_BITS);
}

/** The IPv4 address in an IPv6 address of a translator or a tunnel. */
export function embedded(address: Address): Address | undefined {
  const found = EMBEDDING.find(({ network }) => contains(network, address));
  return found && { bits: 32, value: (address.value >> found.shift) & 0xffff_ffffn };
}

const forwarded = (inner: Address): string => `an address that leads to ${specialAddress(inner)!.what}`;

function networks(what: string, texts: readonly string[], isHost?: true) {
  return texts.map((text) => ({ network: parseCidr(text)!, what, ...(isHost && { isHost }) }));
}
