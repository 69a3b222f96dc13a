import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../lib/errors.ts';

const SESSION = /^[\x21-\x7e]{1,128}$/;

/**
 * Requests in progress of clients of 2025, which cancel by a message of its own. Their ids are unique in a session only, so
 * each client gets a name when it initializes. Nothing else depends on it, and no session is stored.
 */
export class Cancellations {
  readonly #running = new Map<string, Set<AbortController>>();

  newSession(): string {
    return randomUUID();
  }

  /** Returns the signal of a request, and what must be called at its end. `key_id`: nobody can cancel for others. */
  begin(key_id: string, session: string | undefined, id: unknown): { signal: AbortSignal; end: () => void } {
    const abort = new AbortController();
    const place = placeOf(key_id, session, id);
    if (place === undefined) return { signal: abort.signal, end: () => undefined };
    const same = this.#running.get(place) ?? new Set();
    this.#running.set(place, same.add(abort));
    const end = () => {
      same.delete(abort);
      if (same.size === 0) this.#running.delete(place);
    };
    return { signal: abort.signal, end };
  }

  cancel(key_id: string, session: string | undefined, id: unknown): void {
    const reason = new ServiceError('CANCELLED', 'the client cancelled the request');
    for (const abort of this.#running.get(placeOf(key_id, session, id) ?? '') ?? []) abort.abort(reason);
  }
}

function placeOf(key_id: string, session: string | undefined, id: unknown): string | undefined {
  if (session === undefined || !SESSION.test(session)) return undefined;
  return typeof id === 'string' || typeof id === 'number' ? JSON.stringify([key_id, session, id]) : undefined;
}
