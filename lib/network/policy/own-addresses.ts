import { networkInterfaces } from 'node:os';
import { formatAddress, parseAddress } from './addresses.ts';
import type { AddressSet } from './policy.ts';

/** Milliseconds for which the addresses of the interfaces are remembered. */
const REMEMBERED_MS = 5000;

let known: { addresses: ReadonlySet<string>; until: number } | undefined;

/** The addresses of this machine's interfaces, which can change at any time. */
export const ownAddresses: AddressSet = {
  has: (address) => {
    const parsed = parseAddress(address);
    return parsed !== undefined && addresses().has(formatAddress(parsed));
  },
};

function addresses(): ReadonlySet<string> {
  const now = performance.now();
  if (known !== undefined && now < known.until) return known.addresses;
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  // The zone is not part of a link-local address.
  const parsed = all
    .map(({ address }) => parseAddress(address.replace(/%.*$/, '')))
    .filter((each) => each !== undefined);
  known = { addresses: new Set(parsed.map(formatAddress)), until: now + REMEMBERED_MS };
  return known.addresses;
}
