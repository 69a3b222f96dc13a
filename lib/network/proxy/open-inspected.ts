import type { Socket } from 'node:net';
import type { Target } from '../policy/policy.ts';
import { dial } from './dial.ts';
import type { Gate } from './gate.ts';
import type { InspectedTarget } from './inspector.ts';

/** Connects an inspector to the address that was checked, if the policy still allows it for the name. Ends with `signal`. */
export async function openInspected(
  gate: Gate,
  { host, address, port }: InspectedTarget,
  signal: AbortSignal,
): Promise<Socket> {
  const decide = (target: Target) => gate.decide({ ...target, host });
  const pinned = { decide, resolve: async () => undefined, spareDescriptor: () => gate.spareDescriptor() };
  const { socket } = await dial(pinned, { host: undefined, address, port }, signal);
  return socket;
}
