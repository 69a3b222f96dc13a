import { ServiceError } from '../../errors.ts';
import { IdMap } from '../../id-map.ts';
import { notFound } from '../../not-found.ts';
import type { LiveSession } from './live-session.ts';

/** Seconds for which a session that has ended is known. */
const KEPT_SECONDS = 3600;
/** Of one sandbox, and of all together; the newest are kept. */
const MAX_CLOSED = 64;
const MAX_ALL_CLOSED = 4096;

/** All sessions of the server: those that are active, and for a while those that have ended. */
export class SessionTable {
  readonly #limit: number;
  readonly #now: () => number;
  readonly #byId = new Map<string, LiveSession>();
  readonly #bySandbox = new Map<string, IdMap<LiveSession>>();
  /** In the order of their ends. */
  readonly #closed = new Set<LiveSession>();
  /** Sessions of each sandbox that are being created; `end`: why they must end at once. */
  readonly #coming = new Map<string, Set<{ end?: string }>>();

  /** `limit`: active sessions of one sandbox. `now`: Unix time in seconds. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** NOT_FOUND, also for a session that ended long ago. */
  find(id: string): LiveSession {
    const session = this.get(id);
    if (session === undefined) throw notFound('session', id);
    return session;
  }

  get(id: string): LiveSession | undefined {
    this.#forgetOld();
    return this.#byId.get(id);
  }

  /** Of one sandbox, from the newest to the oldest. */
  newestFirst(sandboxId: string, before?: string): Iterable<LiveSession> {
    this.#forgetOld();
    return this.#bySandbox.get(sandboxId)?.newestFirst(before) ?? [];
  }

  /**
   * Counts a session as active while it is created. RESOURCE_EXHAUSTED at the sandbox's limit. FAILED_PRECONDITION if the
   * sandbox's sessions were ended meanwhile, for example by a rollback.
   */
  async creating(sandboxId: string, create: () => Promise<LiveSession>): Promise<LiveSession> {
    const coming = this.#coming.get(sandboxId) ?? new Set<{ end?: string }>();
    if (this.#active(sandboxId) + coming.size >= this.#limit) {
      const problem = `the sandbox has ${this.#limit} sessions, the maximum (limits.sessions): destroy one`;
      throw new ServiceError('RESOURCE_EXHAUSTED', problem);
    }
    const own: { end?: string } = {};
    this.#coming.set(sandboxId, coming.add(own));
    try {
      const session = await create();
      if (own.end !== undefined) {
        await session.close(own.end);
        throw new ServiceError('FAILED_PRECONDITION', `the session ended while it was created: ${own.end}`);
      }
      this.#byId.set(session.id, session);
      const others = this.#bySandbox.get(sandboxId) ?? new IdMap<LiveSession>();
      this.#bySandbox.set(sandboxId, others.set(session.id, session));
      // It may have ended before it was known.
      if (session.closedAt !== undefined) this.closed(session);
      return session;
    } finally {
      coming.delete(own);
      if (coming.size === 0 && this.#coming.get(sandboxId) === coming) this.#coming.delete(sandboxId);
    }
  }

  /** Call when a session has ended. */
  closed(session: LiveSession): void {
    if (!this.#byId.has(session.id)) return;
    this.#closed.add(session);
    const ofSandbox = [...this.#closed].filter(({ sandboxId }) => sandboxId === session.sandboxId);
    if (ofSandbox.length > MAX_CLOSED) this.forget(ofSandbox[0]!);
    const [oldest] = this.#closed;
    if (this.#closed.size > MAX_ALL_CLOSED && oldest) this.forget(oldest);
  }

  forget(session: LiveSession): void {
    this.#byId.delete(session.id);
    this.#closed.delete(session);
    const others = this.#bySandbox.get(session.sandboxId);
    others?.delete(session.id);
    if (others?.size === 0) this.#bySandbox.delete(session.sandboxId);
  }

  /** Ends all sessions of a sandbox. `reason`: a clause for messages. */
  async end(sandboxId: string, reason: string): Promise<void> {
    for (const each of this.#coming.get(sandboxId) ?? []) each.end = reason;
    await Promise.all([...this.newestFirst(sandboxId)].map((session) => session.close(reason)));
  }

  #active(sandboxId: string): number {
    return [...this.newestFirst(sandboxId)].filter(({ closedAt }) => closedAt === undefined).length;
  }

  #forgetOld(): void {
    for (const session of this.#closed) {
      if ((session.closedAt ?? 0) > this.#now() - KEPT_SECONDS) return;
      this.forget(session);
    }
  }
}
