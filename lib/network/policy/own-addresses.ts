import { networkInterfaces } from 'node:os';
import { formatAddress, parseAddress } from './addresses.ts';
import type { AddressSet } from './policy.ts';

/**
 * The addresses are remembered for so many times as long as it took to read them: a flood of connections spends a small part of
 * its time on that, and a new address counts after a few milliseconds, however many interfaces there are.
 */
const REMEMBERED = 20;

type Interfaces = typeof networkInterfaces;

/** The addresses of this machine's interfaces, which can change at any time: Docker and VPNs make them. */
export function addressesOf(read: Interfaces, now = () => performance.now()): AddressSet {
  let known: ReadonlySet<string> = new Set();
  let until = Number.NEGATIVE_INFINITY;
  return {
    has: (address) => {
      const parsed = parseAddress(address);
      if (parsed === undefined) return false;
      const began = now();
      if (began >= until) {
        known = formatted(read());
        until = began + (now() - began) * REMEMBERED;
      }
      return known.has(formatAddress(parsed));
    },
  };
}

export const ownAddresses: AddressSet = addressesOf(networkInterfaces);

function formatted(interfaces: ReturnType<Interfaces>): ReadonlySet<string> {
  const all = Object.values(interfaces).flatMap((each) => each ?? []);
  // The zone is not part of a link-local address.
  const parsed = all.map(({ address }) => parseAddress(address.replace(/%.*$/, '')));
  return new Set(parsed.filter((each) => each !== undefined).map(formatAddress));
}
