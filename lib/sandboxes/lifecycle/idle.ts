import { ServiceError } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import { limiter } from '../limiter.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { destroyWithCause } from './destroy.ts';
import { endAndCommit } from './start-stop.ts';

const CONCURRENCY = 8;
/** Milliseconds until a failed end is tried again. */
const RETRY_MS = 60_000;

/**
 * Stops or destroys the sandboxes that were idle for their `idle_timeout`. The time is monotonic, so that a wall clock
 * that is set ends no sandbox, and is kept in memory only: after a restart of the server it begins anew.
 */
export class IdleSandboxes {
  readonly #context: SandboxContext;
  readonly #turn = limiter(CONCURRENCY);
  readonly #ending = new Set<LiveSandbox>();
  readonly #retryAt = new WeakMap<LiveSandbox, number>();

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  /** Resolves when all that are due now have been ended. Calls may overlap. Never rejects: failures are logged. */
  async end(): Promise<void> {
    const due = [...this.#context.sandboxes.idling].filter((each) => !this.#ending.has(each) && this.#isDue(each));
    await Promise.all(due.map((sandbox) => this.#end(sandbox)));
  }

  #isDue(sandbox: LiveSandbox): boolean {
    const { activity, destroying, record, status } = sandbox;
    if (record.idle_timeout === 0 || destroying) return false;
    // Until it runs nobody can use it.
    if (status === 'SANDBOX_PENDING') activity.restart();
    if (status === 'SANDBOX_PENDING' || (status !== 'SANDBOX_RUNNING' && record.on_idle !== 'destroy')) return false;
    const now = this.#context.clock.monotonic();
    return activity.idleFor(now) >= record.idle_timeout * 1000 && now >= (this.#retryAt.get(sandbox) ?? 0);
  }

  async #end(sandbox: LiveSandbox): Promise<void> {
    const { id } = sandbox;
    this.#ending.add(sandbox);
    try {
      await this.#turn(() => this.#context.change(id, () => this.#endInQueue(sandbox)));
    } catch (err) {
      // Destroyed by a call meanwhile.
      if (this.#context.closing || (err instanceof ServiceError && err.code === 'NOT_FOUND')) return;
      this.#retryAt.set(sandbox, this.#context.clock.monotonic() + RETRY_MS);
      this.#context.log.warn('idle sandbox could not be ended, will retry', { sandbox_id: id, err });
    } finally {
      this.#ending.delete(sandbox);
    }
  }

  /**
   * No call is in progress here. A call that begins from now on waits for the outcome, so that no command is ended in
   * the middle.
   */
  async #endInQueue(sandbox: LiveSandbox): Promise<void> {
    if (!this.#isDue(sandbox)) return;
    const context = this.#context;
    const { id, record } = sandbox;
    const idleMs = sandbox.activity.idleFor(context.clock.monotonic());
    sandbox.ending = true;
    try {
      if (record.on_idle === 'destroy') {
        const since = Math.floor((context.clock.now() - idleMs) / 1000);
        await destroyWithCause(sandbox, context, { cause: { reason: 'idle', since } });
      } else await context.platform.descriptors.lend(() => endAndCommit(sandbox, context));
    } finally {
      sandbox.ending = false;
    }
    context.log.info('idle sandbox ended', { sandbox_id: id, on_idle: record.on_idle });
  }
}
