import type { Runtime as RuntimeName } from './contract/messages.ts';
import type { Runtime } from './runtime/runtime.ts';

/** Creates a runtime. Throws a one-line ServiceError if this build or configuration does not have it. */
export type RuntimeFactory = () => Runtime;

/**
 * The runtimes that work on this machine. Each is created, probed and cleared of the remains of an earlier server at
 * its first use. A failed one is retried at the next use; no other runtime replaces it.
 */
export class Runtimes {
  readonly #factories: Readonly<Record<RuntimeName, RuntimeFactory>>;
  readonly #working = new Map<RuntimeName, Promise<Runtime>>();

  constructor(factories: Readonly<Record<RuntimeName, RuntimeFactory>>) {
    this.#factories = factories;
  }

  get(name: RuntimeName): Promise<Runtime> {
    const known = this.#working.get(name);
    if (known) return known;
    const working = this.#bring(name);
    this.#working.set(name, working);
    working.catch(() => this.#working.delete(name));
    return working;
  }

  /** Releases what the runtimes hold beyond their sandboxes. All sandboxes must have ended. */
  async close(): Promise<void> {
    for (const working of this.#working.values()) {
      const runtime = await working.catch(() => undefined);
      await runtime?.close?.();
    }
  }

  async #bring(name: RuntimeName): Promise<Runtime> {
    const runtime = this.#factories[name]();
    await runtime.probe();
    await runtime.reclaim();
    return runtime;
  }
}
