import { isIPv4, isIPv6 } from 'node:net';

/** An IPv4 or IPv6 address as a number. An IPv4-mapped IPv6 address is the IPv4 address: a connection to it is one to that. */
export interface Address {
  bits: 32 | 128;
  value: bigint;
}

const MAPPED = 0xffffn;

/** undefined: it is no address. Only the usual forms are: neither `127.1` nor `0x7f000001`, and no zone. */
export function parseAddress(text: string): Address | undefined {
  if (isIPv4(text)) return { bits: 32, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const value = ipv6Value(text);
  return value >> 32n === MAPPED ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value };
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const dotted = /^(.*:)([^:]*\..*)$/.exec(text);
  const last = dotted && ipv4Value(dotted[2]!);
  const plain = dotted ? `${dotted[1]}${(last! >> 16n).toString(16)}:${(last! & MAPPED).toString(16)}` : text;
  const [head = [], tail] = plain.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length;
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** The address as text, in the form of RFC 5952. */
export function formatAddress({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((value >> BigInt(112 - 16 * at)) & MAPPED).toString(16));
  const zeros = [...groups.join(':').matchAll(/(?<![^:])0(?::0)+(?![^:])/g)].map(([run]) => run);
  const longest = zeros.reduce((best, run) => (run.length > best.length ? run : best), '');
  const text = groups.join(':');
  if (longest === '') return text;
  const at = text.search(new RegExp(`(?<![^:])${longest}(?![^:])`));
  return `${text.slice(0, at).replace(/:$/, '')}::${text.slice(at + longest.length).replace(/^:/, '')}`;
}
