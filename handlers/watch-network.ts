import type { NetworkEvent } from '../lib/contract/messages.ts';
import { define, KEEPALIVE_MS, keptAlive } from './define.ts';

export const watchNetwork = define(
  {
    rpc: 'WatchNetwork',
    route: 'GET /v1/sandboxes/{sandbox_id}/network/events',
    kind: 'events',
    cursor: { from: 'after', id: 'sequence', end: 'end' },
    access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' },
    retry: 'read',
    counts: ['stream'],
    isUse: false,
    example: { query: { denied_only: true }, curl: "-N -H 'accept: text/event-stream'" },
    constraints: { after: { minimum: 0 } },
  },
  async ({ request }, context) => {
    const { services, signal } = context;
    const events = await services.networks.watch(request, signal);
    let sequence = request.after;
    async function* followed(): AsyncGenerator<NetworkEvent, void, void> {
      for await (const event of events) {
        sequence = event.sequence;
        yield event;
      }
    }
    const ms = services.keepaliveMs ?? KEEPALIVE_MS;
    return keptAlive(followed(), ms, () => ({ sequence, kind: '', lost: 0, keepalive: true }));
  },
);
