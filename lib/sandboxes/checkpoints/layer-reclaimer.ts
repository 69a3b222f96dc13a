import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../log.ts';
import type { Platform } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { LayerNeeds } from './layer-needs.ts';
import { NeedsGate } from './needs-gate.ts';

/** What the reclaimer needs of the operations on sandboxes. */
interface ReclaimContext {
  /** All there are, also those being made or destroyed. */
  readonly sandboxes: ReadonlyMap<string, LiveSandbox>;
  readonly platform: Platform;
  readonly log: Log;
  /** Runs `task` when no other change of the sandbox runs. */
  change<T>(id: string, task: (sandbox: LiveSandbox) => Promise<T>): Promise<T>;
}

/** Names of layers that are being removed; no layer of a sandbox begins so. */
const REMOVED = '.removed-';

/**
 * Removes the layers that no sandbox and no checkpoint needs. What is needed is read from the disk each time, so nothing
 * is counted that a crash could leave wrong.
 */
export class LayerReclaimer {
  readonly #root: string;
  /** Never removed: nothing is known of them. */
  #foreign = new Set<string>();
  readonly #gate = new NeedsGate();
  /** Sandboxes that may have come to need more since the layers were listed. */
  #grown = new Set<string>();
  #growths = 0;
  #running: Promise<void> | undefined;
  #again = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** For a server that starts without any metadata: what is there now may be needed by what it does not know. */
  async keepAll(): Promise<void> {
    this.#foreign = new Set((await readdir(this.#root)).filter((name) => !name.startsWith(REMOVED)));
  }

  /**
   * Runs, in the sandbox's queue, what freezes it until the checkpoint or the forks that need the layer are in the
   * records: no layer is taken away in between.
   */
  growing<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#gate.shared(() => {
      this.#growths++;
      this.#grown.add(id);
      return task();
    });
  }

  /** In the background, one at a time; one that is asked for meanwhile comes after. */
  reclaim(context: ReclaimContext): void {
    this.#again = true;
    this.#running ??= this.#run(context).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when the one under way, if any, is done with all that was asked for. */
  get done(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Resolves when none is under way; what is asked for besides is left to the next server. */
  async idle(): Promise<void> {
    this.#again = false;
    await this.#running;
  }

  async #run(context: ReclaimContext): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#once(context).catch((err: unknown) =>
        context.log.error('layers that nobody needs could not be removed; it is tried again later', { err }),
      );
    }
  }

  /**
   * The journals cannot be read at one moment. So they are read while work goes on, and then, while nothing is frozen or
   * forked, once more for those that may need more than was read. From there to the removal nobody comes to need a layer.
   */
  async #once(context: ReclaimContext): Promise<void> {
    const { sandboxes, platform, log } = context;
    this.#grown = new Set();
    // Before the sandboxes: a layer that comes to be later is no candidate.
    const found = await readdir(this.#root);
    const needs = new LayerNeeds(platform.layout, log);
    for (const sandbox of [...sandboxes.values()]) await needs.add(sandbox);
    const [removed, growths] = await this.#gate.exclusive(async () => {
      for (const sandbox of [...sandboxes.values()]) {
        if (this.#grown.has(sandbox.id) || !needs.has(sandbox.id)) await needs.add(sandbox);
      }
      return [await this.#takeAway(found, needs), this.#growths];
    });
    for (const name of removed) await platform.removeTree(join(this.#root, name));
    if (removed.length > 0) await platform.mount.layersRemoved();
    await this.#absorb(context, needs, growths);
  }

  /** In one step each; a crash after it leaves what the next one removes. */
  async #takeAway(found: readonly string[], needs: LayerNeeds): Promise<string[]> {
    const removed: string[] = [];
    for (const layer of found) {
      if (needs.isNeeded(layer) || this.#foreign.has(layer)) continue;
      const name = layer.startsWith(REMOVED) ? layer : `${REMOVED}${layer}`;
      // A sandbox that was destroyed meanwhile took its own layer with it.
      const gone = (error: NodeJS.ErrnoException) => error.code === 'ENOENT';
      const taken = await rename(join(this.#root, layer), join(this.#root, name)).then(
        () => true,
        (error) => {
          if (gone(error)) return false;
          throw error;
        },
      );
      if (taken) removed.push(name);
    }
    return removed;
  }

  /** What only one sandbox needs and is not its own top: it may hold much that nobody needs. */
  async #absorb(context: ReclaimContext, needs: LayerNeeds, growths: number): Promise<void> {
    for (const [id, layers] of needs.alone()) {
      if (!context.sandboxes.get(id)?.attached) continue;
      // Only what is frozen or forked since, which is in its queue too, can make somebody else need them.
      const absorb = async ({ attached }: LiveSandbox) => {
        if (!attached) return 'kept';
        return this.#growths === growths ? context.platform.mount.absorb(id, layers) : 'more';
      };
      const outcome = await context.change(id, absorb).catch(() => 'kept');
      if (outcome !== 'kept') this.#again = true;
    }
  }
}
