import { type Address, formatAddress } from './addresses.ts';
import type { CompiledRule } from './compiled.ts';
import type { Limits } from './policy.ts';
import { embedded, namesPart, type SpecialAddress, specialAddress } from './special-addresses.ts';

/** What is special about an address, also that of the host in an address that a translator forwards to. */
export function specialOf(address: Address, ownAddresses: Limits['ownAddresses']): SpecialAddress | undefined {
  const inner = embedded(address);
  const isOwn = ownAddresses.has(formatAddress(address)) || (inner && ownAddresses.has(formatAddress(inner)));
  if (isOwn) return { what: 'an address of the machine itself', network: undefined, isHost: true };
  return specialAddress(address);
}

/**
 * The reason, as a sentence, why a special address is refused: no rule allows it by `cidr`. Such a rule must lie in the
 * special network, because one for all addresses does not mean these; for an address of the host it must name that address
 * alone. undefined: it is allowed. `allowing`: the rules that allow the target.
 */
export function refusedAddress(
  address: Address,
  special: SpecialAddress,
  allowing: readonly CompiledRule[],
): string | undefined {
  const allows = ({ network }: CompiledRule) =>
    network !== undefined && (special.isHost ? network.length === network.bits : namesPart(network, special));
  if (allowing.some(allows)) return undefined;
  const needed = special.isHost ? 'this address' : 'this address or of its part of that network';
  const who = `${formatAddress(address)} is ${special.what}`;
  return `${who}: a rule with the cidr of ${needed} and network.allow_max of the server allow it, both together.`;
}
