import type { Connection } from '../../contract/messages.ts';
import type { ConnectionInfo } from '../../network/worker/networks.ts';

/** A connection in the form of the API. */
export function shownConnection({ sent, received, openedAt, closedAt, rule, ...same }: ConnectionInfo): Connection {
  const seconds = (time: number) => Math.floor(time / 1000);
  return {
    ...same,
    rule: rule ?? -1,
    sent_bytes: sent,
    received_bytes: received,
    opened_at: seconds(openedAt),
    closed_at: closedAt === undefined ? 0 : seconds(closedAt),
  };
}
