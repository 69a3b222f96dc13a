import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkEvent } from '../../contract/messages.ts';
import type { EventBatch, EventCursor, SandboxNetworks } from '../../network/worker/networks.ts';
import { SerialQueue } from '../../serial-queue.ts';
import { shownConnection } from './shown-connection.ts';

/**
 * Milliseconds between two questions with answers. The threat: a program that asks for names in a loop keeps the server busy
 * with its refusals.
 */
const PAUSE_MS = 50;
/** The same for each event of an answer and each watch that pauses: all watches of the server together get 2,000 in a second. */
const PAUSE_MS_EACH = 0.5;
/** Of a network that is about to be closed. An answer has 250 events, and a network keeps 1,000. */
const MOST_LAST_QUESTIONS = 6;

/** Milliseconds after an answer with so many events, while so many watches pause. */
export const pauseAfter = (events: number, watches: number): number =>
  Math.max(PAUSE_MS, events * watches * PAUSE_MS_EACH);

/** The pauses of all watches of a server. */
export class WatchPauses {
  /** Watches that pause now: those of all sandboxes that have much to read. One that is not read does not come to its pause. */
  #watches = 0;

  /** After an answer with so many events. Ends early, without an error, when the signal is aborted. */
  async pause(events: number, signal: AbortSignal): Promise<void> {
    this.#watches++;
    await delay(pauseAfter(events, this.#watches), undefined, { signal }).catch(() => undefined);
    this.#watches--;
  }
}

type Source = Pick<SandboxNetworks, 'events' | 'onNews'>;

interface Watched {
  id: string;
  after: number;
  deniedOnly: boolean;
}

/**
 * A reader of the events of one open network. It asks for the next ones when the last were taken: what a slow reader does
 * not get in time is lost where the events are kept, and counted.
 */
export class NetworkWatch {
  readonly #source: Source;
  readonly #watched: Watched;
  readonly #pauses: Pick<WatchPauses, 'pause'>;
  /** Asks one after the other: each starts where the one before ended. */
  readonly #questions = new SerialQueue();
  readonly #change = new EventTarget();
  #pending: NetworkEvent[] = [];
  #cursor: EventCursor;
  #isClosed = false;
  #hasNews = true;

  constructor(source: Source, watched: Watched, pauses: Pick<WatchPauses, 'pause'>) {
    this.#source = source;
    this.#watched = watched;
    this.#pauses = pauses;
    this.#cursor = { start: 0, after: watched.after, read: {} };
  }

  /** The events; the last one has `end`. Ends with an error when the signal is aborted. */
  async *events(signal: AbortSignal): AsyncGenerator<NetworkEvent, void, void> {
    const heard = () => {
      this.#hasNews = true;
      this.#change.dispatchEvent(new Event('change'));
    };
    const stop = this.#source.onNews(this.#watched.id, heard);
    try {
      for (;;) {
        signal.throwIfAborted();
        const taken = this.#pending;
        this.#pending = [];
        if (taken.length > 0) {
          yield* taken;
          await this.#pauses.pause(taken.length, signal);
          continue;
        }
        if (this.#isClosed) return yield message({ sequence: this.#cursor.after, end: { reason: 'closed' } });
        if (!this.#hasNews) await once(this.#change, 'change', { signal }).catch(() => signal.throwIfAborted());
        else await this.#ask();
      }
    } finally {
      stop();
    }
  }

  /** Takes what is there, and ends. At most as much is held as the network keeps. */
  async close(): Promise<void> {
    // A program that goes on all the time does not keep its network open.
    for (let asked = 0; asked < MOST_LAST_QUESTIONS && (await this.#ask()); asked++);
    this.#isClosed = true;
    this.#change.dispatchEvent(new Event('change'));
  }

  /** Whether there was something. */
  #ask(): Promise<boolean> {
    return this.#questions.run(async () => {
      // Set again by what happens after the answer was made.
      this.#hasNews = false;
      const { id, deniedOnly } = this.#watched;
      // The thread of the networks may end; it is heard of when it is back.
      const batch = await this.#source.events(id, this.#cursor, deniedOnly).catch(() => undefined);
      if (batch === undefined) return false;
      this.#pending.push(...messagesOf(batch, this.#cursor.after));
      this.#cursor = batch.cursor;
      if (batch.events.length > 0) this.#hasNews = true;
      return batch.events.length > 0;
    });
  }
}

function messagesOf({ events, lost }: EventBatch, after: number): NetworkEvent[] {
  const shown = events.map(({ sequence, kind, connection }) =>
    message({ sequence, kind, connection: shownConnection(connection) }),
  );
  return lost > 0 ? [message({ sequence: after, lost }), ...shown] : shown;
}

const message = (fields: Partial<NetworkEvent> & { sequence: number }): NetworkEvent => ({
  kind: '',
  lost: 0,
  keepalive: false,
  ...fields,
});
