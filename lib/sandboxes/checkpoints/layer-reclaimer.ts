import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { layersOfDelta, layersOfFrozen } from '../../fuse/layers.ts';
import { deltaOf, firstLayer } from '../bring-up.ts';
import type { SandboxContext } from '../context.ts';

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

  constructor(root: string) {
    this.#root = root;
  }

  /** For a server that starts without any metadata: what is there now may be needed by what it does not know. */
  async keepAll(): Promise<void> {
    this.#foreign = new Set(await readdir(this.#root));
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
    const found = await readdir(this.#root);
    const needed = await this.#needed(context);
    const unneeded = found.filter((layer) => !needed.has(layer) && !this.#foreign.has(layer));
    if (unneeded.length === 0) return;
    for (const layer of unneeded) await context.platform.removeTree(join(this.#root, layer));
    await context.platform.mount.layersRemoved();
  }

  async #needed({ sandboxes, platform }: SandboxContext): Promise<Set<string>> {
    const needed = new Set<string>();
    const frozen = new Set<string>();
    const users = [...sandboxes.values()].map(({ id, record: { origin, checkpoints = [] } }) => {
      for (const { layer } of checkpoints) frozen.add(layer);
      return { id, origin };
    });
    for (const { id, origin } of users) {
      const layers = await layersOfDelta(deltaOf(id, platform.layout));
      if (layers === undefined && origin !== undefined) frozen.add(origin);
      for (const layer of [layers?.top ?? firstLayer(id), ...(layers?.below ?? [])]) needed.add(layer);
    }
    for (const layer of frozen) {
      for (const each of await layersOfFrozen(this.#root, layer)) needed.add(each);
    }
    return needed;
  }
}
