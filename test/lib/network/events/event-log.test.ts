import { beforeEach, describe, expect, it } from 'vitest';
import { EventLog } from '../../../../lib/network/events/event-log.ts';
import { Sequence } from '../../../../lib/network/events/sequence.ts';
import type { EventCursor } from '../../../../lib/network/worker/networks.ts';

const CONNECTION = {
  ...{ host: 'a', address: '', port: 443, protocol: 'tls', allowed: true, code: 'allowed', reason: '', count: 1 },
  ...{ sequence: 1, rule: undefined, sent: 1, received: 2, openedAt: 5000, closedAt: undefined },
};
const refused = (code: string) => ({ ...CONNECTION, allowed: false as const, code });
const from = (after: number): EventCursor => ({ start: 0, after, read: {} });

let log: EventLog;
let news: number;

beforeEach(() => {
  news = 0;
  log = new EventLog(new Sequence(), () => news++);
});

/** Reads to the end. */
function all(cursor: EventCursor, deniedOnly = false) {
  const batches = [log.read(cursor, deniedOnly)];
  while (batches.at(-1)!.events.length > 0) batches.push(log.read(batches.at(-1)!.cursor, deniedOnly));
  const events = batches.flatMap((batch) => batch.events);
  return { events, lost: batches.reduce((sum, batch) => sum + batch.lost, 0), cursor: batches.at(-1)!.cursor };
}

describe('the events of a network', () => {
  it('are read in their order, once, and behind any of them', () => {
    log.connection('opened', CONNECTION);
    log.refused(refused('not_allowed'));
    log.connection('closed', CONNECTION);
    const { events, lost, cursor } = all(from(0));
    expect([events.map(({ kind }) => kind), lost]).toEqual([['opened', 'refused', 'closed'], 0]);
    expect(all(cursor).events).toEqual([]);
    expect(all(from(events[0]!.sequence)).events).toEqual(events.slice(1));
    expect(all(from(0), true).events).toEqual([events[1]]);
  });

  it('of one kind make no room for another', () => {
    log.refused(refused('secret_elsewhere'));
    log.refused(refused('ceiling'));
    for (let at = 0; at < 1000; at++) log.connection('opened', CONNECTION);
    expect(all(from(0), true)).toMatchObject({ events: [{}, {}], lost: 0 });
    for (let at = 0; at < 1000; at++) log.refused(refused('not_allowed'));
    const { events } = all(from(0), true);
    expect([events[0]?.connection.code, events.length]).toEqual(['secret_elsewhere', 401]);
  });

  it('that are not kept are counted', () => {
    log.connection('opened', CONNECTION);
    const { cursor, events } = all(from(0));
    for (let at = 0; at < 600; at++) log.connection('opened', CONNECTION);
    log.refused(refused('not_allowed'));
    const late = all(cursor);
    expect([late.lost, late.events.length]).toEqual([100, 501]);
    expect(all(cursor, true)).toMatchObject({ lost: 0, events: [{}] });
    // Without the cursor it is not known what the reader has: at most those between.
    expect(all(from(events[0]!.sequence)).lost).toBe(100);
    expect(all(late.cursor)).toMatchObject({ lost: 0, events: [] });
  });

  it('of an earlier or a later network are not known', () => {
    log.connection('opened', CONNECTION);
    const { cursor } = all(from(0));
    log = new EventLog(new Sequence(), () => news++);
    log.connection('opened', CONNECTION);
    expect(all({ ...cursor, after: 5 }).events).toHaveLength(1);
    expect(all(from(Number.MAX_SAFE_INTEGER)).events).toHaveLength(1);
  });

  it('are told of once after an answer without any', () => {
    log.connection('opened', CONNECTION);
    expect(news).toBe(0);
    const { cursor } = all(from(0));
    for (let at = 0; at < 3; at++) log.connection('opened', CONNECTION);
    expect(news).toBe(1);
    all(cursor);
    log.connection('opened', CONNECTION);
    expect(news).toBe(2);
  });
});
