import type { Runtime as RuntimeName } from './messages.ts';
import type { Runtime } from './runtime/runtime.ts';

/** Throws a one-line ServiceError when this build or configuration has no such runtime. */
export type RuntimeFactory = () => Runtime;

/**
 * The runtimes that work on this machine, each made, probed and cleared of what an earlier server left when it is first
 * asked for. One that does not work is tried again at the next need; there is never another in its place.
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

  /** Gives back what the runtimes hold beside their sandboxes, which have ended. */
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
