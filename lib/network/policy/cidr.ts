import { type Address, formatAddress, parseAddress } from './addresses.ts';

/** All addresses with the same first `length` bits. */
export interface Network extends Address {
  length: number;
}

/** `10.1.0.0/16`, `2001:db8::/32`, or one address. undefined: it is none. Bits behind the prefix are dropped. */
export function parseCidr(text: string): Network | undefined {
  const [, host = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(host);
  if (address === undefined) return undefined;
  const { bits } = address;
  // The prefix of an IPv4-mapped network counts the bits of IPv6.
  const mapped = bits === 32 && host.includes(':') ? 96 : 0;
  const length = prefix === undefined ? bits : Number(prefix) - mapped;
  if (length < 0 || length > bits) return undefined;
  return { bits, length, value: firstOf(address, length) };
}

export const contains = (network: Network, address: Address): boolean =>
  network.bits === address.bits && firstOf(address, network.length) === network.value;

/** Whether all addresses of `inner` are in `outer`. */
const covers = (outer: Network, inner: Network): boolean => inner.length >= outer.length && contains(outer, inner);

export const overlap = (a: Network, b: Network): boolean => covers(a, b) || covers(b, a);

export const formatCidr = (network: Network): string => `${formatAddress(network)}/${network.length}`;

function firstOf({ bits, value }: Address, length: number): bigint {
  const rest = BigInt(bits - length);
  return (value >> rest) << rest;
}
