import { createHash, randomBytes } from 'node:crypto';
import { invalidArgument, ServiceError } from '../errors.ts';
import { unauthenticated } from './credentials.ts';

const LIFETIME_MS = 30_000;
/** Unused tickets of one key. */
const MAX_PER_KEY = 100;

interface StoredTicket {
  keyId: string;
  target: string;
  /** Wall-clock time in milliseconds since the epoch. */
  until: number;
}

/** What a ticket opens: a path and its query, whatever the order of the parameters, without the ticket itself. */
export function ticketTarget(path: string, query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.delete('ticket');
  parameters.sort();
  return `${path}?${parameters}`;
}

/** The target of a path and query in one text. Throws INVALID_ARGUMENT if it is not a path of this service. */
export function targetOfPath(text: string): string {
  if (!/^\/v1\/[\x21\x22\x24-\x7e]+$/.test(text)) {
    throw invalidArgument(
      'path',
      'must be a path of this service in a URL, with its query, like /v1/sandboxes/sb_1/files/a',
    );
  }
  const [path = '', ...query] = text.split('?');
  return ticketTarget(path, query.join('?'));
}

/**
 * Tickets: secrets in the URL of one GET request, for clients that cannot send headers. Each is valid once, for 30
 * seconds, and for one target. They are kept in memory only, as hashes.
 */
export class Tickets {
  readonly #now: () => number;
  /** By the hash of the ticket, in the order of their expiry. */
  readonly #tickets = new Map<string, StoredTicket>();

  /** `now`: wall-clock time in milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** RESOURCE_EXHAUSTED if the key has 100 tickets that are neither used nor expired. */
  create(keyId: string, target: string): { ticket: string; expires_at: number } {
    this.#removeExpired();
    let count = 0;
    for (const stored of this.#tickets.values()) if (stored.keyId === keyId) count++;
    if (count >= MAX_PER_KEY) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `the key has ${MAX_PER_KEY} unused tickets, the maximum`);
    }
    const ticket = `pdt_${randomBytes(32).toString('base64url')}`;
    const until = this.#now() + LIFETIME_MS;
    this.#tickets.set(hashOf(ticket), { keyId, target, until });
    return { ticket, expires_at: Math.floor(until / 1000) };
  }

  /** The id of the key whose rights the ticket has. It is used up, also by a request for another target. */
  redeem(ticket: string, target: string): string {
    const hash = hashOf(ticket);
    const stored = this.#tickets.get(hash);
    this.#tickets.delete(hash);
    if (stored === undefined || stored.until <= this.#now() || stored.target !== target) {
      throw unauthenticated('the ticket is not valid: it opens one GET request of its path, once, within 30 seconds');
    }
    return stored.keyId;
  }

  #removeExpired(): void {
    for (const [hash, { until }] of this.#tickets) {
      if (until > this.#now()) return;
      this.#tickets.delete(hash);
    }
  }
}

/** A look-up by the hash takes a time that tells nothing about the ticket. */
function hashOf(ticket: string): string {
  return createHash('sha256').update(ticket).digest('base64url');
}
