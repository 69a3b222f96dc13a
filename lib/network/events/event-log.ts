import type { ConnectionInfo, EventBatch, EventCursor, NetworkEvent, RefusedInfo } from '../worker/networks.ts';
import { EventRing } from './event-ring.ts';
import type { Sequence } from './sequence.ts';

/**
 * Events that are kept. The threat: a program that sends a placeholder elsewhere makes thousands of connections after it, or
 * asks for thousands of names, so that nobody sees it. One kind makes no room for another.
 */
const MOST = { secrets: 100, refusals: 400, connections: 500 };
/** Events of one answer. */
const MOST_READ = 250;

type Kind = keyof typeof MOST;
const DENIED: readonly Kind[] = ['secrets', 'refusals'];
const ALL: readonly Kind[] = [...DENIED, 'connections'];

/** The last events of one network, for any number of readers at their own pace. */
export class EventLog {
  readonly #sequence: Sequence;
  readonly #news: () => void;
  readonly #rings = {
    secrets: new EventRing(MOST.secrets),
    refusals: new EventRing(MOST.refusals),
    connections: new EventRing(MOST.connections),
  };
  /** A reader has seen everything. */
  #isAwaited = false;

  /** `news`: called for the first event after a read that found none. */
  constructor(sequence: Sequence, news: () => void) {
    this.#sequence = sequence;
    this.#news = news;
  }

  refused(connection: RefusedInfo): void {
    const kind = connection.code === 'secret_elsewhere' ? 'secrets' : 'refusals';
    this.#add(kind, { sequence: this.#sequence.next(), kind: 'refused', connection });
  }

  connection(kind: 'opened' | 'closed', connection: ConnectionInfo): void {
    this.#add('connections', { sequence: this.#sequence.next(), kind, connection });
  }

  #add(kind: Kind, event: NetworkEvent): void {
    this.#rings[kind].add(event);
    if (!this.#isAwaited) return;
    this.#isAwaited = false;
    this.#news();
  }

  /** The oldest events after a cursor. A cursor of an earlier network, or of a later one, begins before all. */
  read({ start, after: position, read: known }: EventCursor, deniedOnly: boolean): EventBatch {
    const after = position > this.#sequence.last ? 0 : position;
    const kinds = deniedOnly ? DENIED : ALL;
    const found = kinds.map((kind) => {
      const read = start === this.#sequence.start ? known[kind] : undefined;
      return { kind, ...this.#rings[kind].after(after, read) };
    });
    const events = found.flatMap((each) => each.events).sort((a, b) => a.sequence - b.sequence);
    const taken = events.slice(0, MOST_READ);
    const last = taken.at(-1)?.sequence ?? after;
    const counts = found.map(({ kind, events: ofKind, index }) => {
      const left = ofKind.findIndex(({ sequence }) => sequence > last);
      return [kind, index + (left === -1 ? ofKind.length : left)] as const;
    });
    const lost = found.reduce((sum, each) => sum + each.lost, 0);
    if (taken.length === 0) this.#isAwaited = true;
    const cursor = { start: this.#sequence.start, after: last, read: Object.fromEntries(counts) };
    return { events: taken, lost, cursor };
  }
}
