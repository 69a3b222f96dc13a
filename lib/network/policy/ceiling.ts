import { type Address, formatAddress } from './addresses.ts';
import { contains, overlap, parseCidr } from './cidr.ts';
import { canonicalPattern, matchesName } from './names.ts';
import type { Ceiling, CeilingEntry, NetworkRule } from './policy.ts';
import { namesPart, type SpecialAddress, specialAddress } from './special-addresses.ts';

/** All names, and all public addresses. */
const PUBLIC: CeilingEntry = { host: '*', cidr: '', ports: [] };

/**
 * Parses an entry of `network.allow_max`: `public`, a name, `*.` and a name, a network or an address, each with or without
 * `:` and ports with commas in between (of IPv6: `[2001:db8::/32]:443`). Otherwise the problem, as a predicate.
 */
export function parseCeilingEntry(text: string): CeilingEntry | { problem: string } {
  const [, bracketed, plain = '', list] = /^(?:\[([^\]]*)\]|([^:]*))(?::([\d,]+))?$/.exec(text) ?? [
    undefined,
    undefined,
    text,
  ];
  const ports = list === undefined ? [] : list.split(',').map(Number);
  if (ports.some((port) => !(port >= 1 && port <= 65_535))) return { problem: 'must have ports between 1 and 65535' };
  const what = bracketed ?? plain;
  if (what === 'public') return { ...PUBLIC, ports };
  if (parseCidr(what)) return { host: '', cidr: what, ports };
  const pattern = canonicalPattern(what);
  if ('name' in pattern) return { host: pattern.name, cidr: '', ports };
  return {
    problem: 'must be public, a name like *.example.org or a network like 10.1.0.0/16, with or without ports like :443',
  };
}

/**
 * Why a target exceeds the ceiling, as a sentence; undefined: it does not. Without a ceiling, everything public is allowed. A
 * name without an address is within it if one of its addresses could be. Special addresses need an entry with their network.
 */
export function beyondCeiling(
  { name, address, port }: { name: string | undefined; address: Address | undefined; port: number },
  special: SpecialAddress | undefined,
  ceiling: Ceiling,
): string | undefined {
  const isWithin = (ceiling ?? [PUBLIC]).some(({ host, cidr, ports }) => {
    if (ports.length > 0 && !ports.includes(port)) return false;
    if (cidr !== '' && address === undefined) return true;
    const network = parseCidr(cidr);
    if (network) return contains(network, address!) && (special === undefined || namesPart(network, special));
    return special === undefined && (host === '*' || (name !== undefined && matchesName(host, name)));
  });
  if (isWithin) return undefined;
  const what = special && address ? `${formatAddress(address)}, ${special.what},` : 'It';
  // Not for a name: names of one kind share one decision.
  const wanted = special && address ? formatAddress(address) : undefined;
  return `${what} exceeds what the server allows to its sandboxes (network.allow_max)${allowedBy(wanted, ceiling)}.`;
}

/** What in the server's configuration allows a name or a network, as the end of a sentence. */
export function allowedBy(wanted: string | undefined, ceiling: Ceiling): string {
  if (wanted === undefined) return '';
  const entries = (ceiling ?? [PUBLIC]).map(({ host, cidr, ports }) => {
    const what = host === '*' ? 'public' : cidr.includes(':') ? `[${cidr}]` : host || cidr;
    return ports.length === 0 ? what : `${what}:${ports.join(',')}`;
  });
  return `; "network: {allow_max: [${[...entries, wanted].map(quoted).join(', ')}]}" in its configuration allows it`;
}

/** In YAML a plain text must not begin with "*" or "[". */
const quoted = (text: string): string => (/^[\w.]+(\/\d+)?(:\d+)?$/.test(text) ? text : `'${text}'`);

/** Whether a rule that allows can have an effect: a part of what it allows is within the ceiling. */
export function canHaveEffect(rule: NetworkRule, ceiling: Ceiling): boolean {
  return (ceiling ?? [PUBLIC]).some((entry) => {
    if (rule.ports.length > 0 && entry.ports.length > 0 && !rule.ports.some((port) => entry.ports.includes(port)))
      return false;
    if (entry.host === '*') return rule.cidr === '' || !isSpecialNetwork(rule.cidr);
    if (rule.cidr !== '') return entry.cidr === '' || overlap(parseCidr(entry.cidr)!, parseCidr(rule.cidr)!);
    return entry.cidr !== '' || namesOverlap(entry.host, rule.host);
  });
}

function namesOverlap(a: string, b: string): boolean {
  const inside = (outer: string, inner: string) => outer === inner || matchesName(outer, inner.replace(/^\*\./, 'x.'));
  return inside(a, b) || inside(b, a);
}

/** Its first address is special in a network that has all of it. */
function isSpecialNetwork(cidr: string): boolean {
  const network = parseCidr(cidr)!;
  const special = specialAddress(network);
  return special !== undefined && namesPart(network, special);
}
