import type { NetworkEvent, WatchNetworkRequest } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { NetworkWatch, type WatchPauses } from './network-watch.ts';
import type { RefusalLog } from './refusal-log.ts';

/** Of one sandbox. Each has at most as many events in memory as the network keeps. */
const MOST_WATCHES = 16;

/** See `Networks.watch`. */
export async function watchNetwork(
  { sandbox_id, after, denied_only }: WatchNetworkRequest,
  signal: AbortSignal,
  context: SandboxContext,
  pauses: WatchPauses,
): Promise<AsyncIterable<NetworkEvent>> {
  const { refusals } = context.find(sandbox_id);
  if (refusals !== undefined) requireRoom(sandbox_id, refusals);
  const watched = { id: sandbox_id, after, deniedOnly: denied_only };
  const watch = new NetworkWatch(context.platform.networks ?? NOTHING, watched, pauses);
  if (refusals === undefined) await watch.close();
  return registered(watch, sandbox_id, refusals, signal);
}

/** Registered while it is read: an iterator that is never read does not end. */
async function* registered(
  watch: NetworkWatch,
  id: string,
  refusals: RefusalLog | undefined,
  signal: AbortSignal,
): AsyncGenerator<NetworkEvent, void, void> {
  if (refusals !== undefined) requireRoom(id, refusals);
  if (refusals?.isClosed) await watch.close();
  refusals?.watches.add(watch);
  try {
    yield* watch.events(signal);
  } finally {
    refusals?.watches.delete(watch);
  }
}

function requireRoom(id: string, { watches }: RefusalLog): void {
  if (watches.size < MOST_WATCHES) return;
  throw new ServiceError('RESOURCE_EXHAUSTED', `sandbox ${id} has ${MOST_WATCHES} watches of its network already`);
}

const NOTHING = { events: async () => undefined, onNews: () => () => undefined };
