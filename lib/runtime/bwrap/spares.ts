import type { ResourceLimits } from '../../contract/messages.ts';
import type { Launcher } from './launcher.ts';

/** Number of spares. Each is a blocked shell of about 200 kB and four empty cgroups. */
const COUNT = 2;
/**
 * Milliseconds after the last launch before a spare is made; making one occupies the event loop for a few milliseconds,
 * which no create should wait for.
 */
const IDLE_MS = 5;

/**
 * Launchers made in advance. Starting a shell and entering its cgroups (the kernel waits for an RCU grace period) is
 * half of the time to start a sandbox. Spares have the limits of the last sandbox, usually the configured ones; a
 * sandbox with other limits gets a new launcher.
 */
export class Spares {
  readonly #make: (resources: ResourceLimits) => Launcher;
  readonly #onError: (error: unknown) => void;
  #spares: Launcher[] = [];
  #resources: ResourceLimits | undefined;
  #launching = 0;
  #timer: NodeJS.Timeout | undefined;
  #discarding = new Set<Promise<void>>();

  /** `make` may throw: then there is no spare, and the next launch reports the error to its caller. */
  constructor(make: (resources: ResourceLimits) => Launcher, onError: (error: unknown) => void) {
    this.#make = make;
    this.#onError = onError;
  }

  /**
   * Returns a launcher in cgroups with exactly these limits, or undefined if none is ready. The caller owns it and must
   * call `launched` afterwards.
   */
  take(resources: ResourceLimits): Launcher | undefined {
    this.#launching++;
    clearTimeout(this.#timer);
    if (!equal(resources, this.#resources)) {
      this.#discardAll();
      this.#resources = { ...resources };
      return undefined;
    }
    for (let spare = this.#spares.shift(); spare; spare = this.#spares.shift()) {
      if (spare.alive) return spare;
      this.#discard(spare);
    }
    return undefined;
  }

  /** Reports the end of a launch, successful or not. */
  launched(): void {
    this.#launching--;
    this.#schedule();
  }

  /** Discards all spares and makes no more until the next launch. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#resources = undefined;
    this.#discardAll();
    await Promise.all(this.#discarding);
  }

  /** One at a time, and none while a sandbox is starting. */
  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#launching > 0 || this.#spares.length >= COUNT || !this.#resources) return;
    this.#timer = setTimeout(() => this.#refill(), IDLE_MS);
    this.#timer.unref();
  }

  #refill(): void {
    if (!this.#resources) return;
    try {
      this.#spares.push(this.#make(this.#resources));
    } catch (error) {
      this.#onError(error);
      return;
    }
    this.#schedule();
  }

  #discardAll(): void {
    for (const spare of this.#spares) this.#discard(spare);
    this.#spares = [];
  }

  #discard(spare: Launcher): void {
    const discarding = spare.discard().catch(this.#onError);
    this.#discarding.add(discarding);
    void discarding.then(() => this.#discarding.delete(discarding));
  }
}

function equal(a: ResourceLimits, b: ResourceLimits | undefined): boolean {
  return (
    a.memory_bytes === b?.memory_bytes &&
    a.cpu_quota === b.cpu_quota &&
    a.cpu_shares === b.cpu_shares &&
    a.pids_limit === b.pids_limit
  );
}
