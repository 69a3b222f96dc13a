import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { layersOfDelta, layersOfFrozen } from '../../fuse/layers.ts';
import { deltaOf, firstLayer } from '../bring-up.ts';
import type { SandboxContext } from '../context.ts';
import type { LiveSandbox } from '../sandbox.ts';

type Needs = Map<string, string[]>;

/**
 * Removes the layers that no sandbox and no checkpoint needs. What is needed is read from the disk each time, so nothing
 * is counted that a crash could leave wrong.
 */
export class LayerReclaimer {
  readonly #root: string;
  /** Never removed: nothing is known of them. */
  #foreign = new Set<string>();
  #running: Promise<void> | undefined;
  #again = false;
  #freezes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** For a server that starts without any metadata: what is there now may be needed by what it does not know. */
  async keepAll(): Promise<void> {
    this.#foreign = new Set(await readdir(this.#root));
  }

  /** To be called in the sandbox's queue before something of it is frozen: others may need its layers then. */
  freezing(): void {
    this.#freezes++;
  }

  /** In the background, one at a time; one that is asked for meanwhile comes after. */
  reclaim(context: SandboxContext): void {
    this.#again = true;
    this.#running ??= this.#run(context).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    this.#again = false;
    await this.#running;
  }

  async #run(context: SandboxContext): Promise<void> {
    while (this.#again) {
      this.#again = false;
      await this.#once(context).catch((err: unknown) =>
        context.log.error('layers that nobody needs could not be removed; it is tried again later', { err }),
      );
    }
  }

  async #once(context: SandboxContext): Promise<void> {
    // In this order: what comes to be after the list is no candidate, and what is on it and unneeded at a moment after
    // that nobody can come to need, since only what is needed can be forked.
    const freezes = this.#freezes;
    const found = await readdir(this.#root);
    const needs = await this.#needs(context);
    const unneeded = found.filter((layer) => !needs.has(layer) && !this.#foreign.has(layer));
    for (const layer of unneeded) await context.platform.removeTree(join(this.#root, layer));
    if (unneeded.length > 0) await context.platform.mount.layersRemoved();
    await this.#absorb(context, needs, freezes);
  }

  /** What only one sandbox needs and is not its own top: it may hold much that nobody needs. */
  async #absorb(context: SandboxContext, needs: Needs, freezes: number): Promise<void> {
    const alone = new Map<string, string[]>();
    for (const [layer, [first, ...others]] of needs) {
      if (first === undefined || others.length > 0) continue;
      alone.set(first, [...(alone.get(first) ?? []), layer]);
    }
    for (const [id, layers] of alone) {
      if (!context.sandboxes.get(id)?.attached) continue;
      // Only a freeze, which is in its queue too, can make somebody else need them.
      const absorb = async ({ attached }: LiveSandbox) => {
        if (!attached) return 'kept';
        return this.#freezes === freezes ? context.platform.mount.absorb(id, layers) : 'more';
      };
      const outcome = await context.change(id, absorb).catch(() => 'kept');
      if (outcome !== 'kept') this.#again = true;
    }
  }

  /** Who needs each layer: sandboxes by their ids, and origins and checkpoints. */
  async #needs({ sandboxes, platform }: SandboxContext): Promise<Needs> {
    const needs: Needs = new Map();
    const need = (layer: string, user: string) => needs.set(layer, [...(needs.get(layer) ?? []), user]);
    const frozen = new Set<string>();
    const users = [...sandboxes.values()].map(({ id, record: { origin, checkpoints = [] } }) => {
      for (const { layer } of checkpoints) frozen.add(layer);
      return { id, origin };
    });
    for (const { id, origin } of users) {
      const layers = await layersOfDelta(deltaOf(id, platform.layout));
      if (layers === undefined && origin !== undefined) frozen.add(origin);
      for (const layer of [layers?.top ?? firstLayer(id), ...(layers?.below ?? [])]) need(layer, id);
    }
    for (const layer of frozen) {
      for (const each of await layersOfFrozen(this.#root, layer)) need(each, `as ${layer}`);
    }
    return needs;
  }
}
