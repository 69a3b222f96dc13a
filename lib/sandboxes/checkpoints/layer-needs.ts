import type { Log } from '../../log.ts';
import { layersOfDelta, layersOfFrozen } from '../../workspaces/delta/layers/layers-on-disk.ts';
import type { Layout } from '../host/layout.ts';
import { deltaOf } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';

/**
 * Who needs which layers, as read from the disk. Needs are only added: what a sandbox needed at one of the moments at
 * which it was read counts as needed.
 */
export class LayerNeeds {
  readonly #layout: Layout;
  readonly #log: Log;
  readonly #users = new Map<string, Set<string>>();
  /** Sandboxes whose layers all stay: something that may need them cannot be read. */
  readonly #unread = new Set<string>();
  readonly #frozen = new Set<string>();
  readonly #seen = new Set<string>();

  constructor(layout: Layout, log: Log) {
    this.#layout = layout;
    this.#log = log;
  }

  has(sandbox: string): boolean {
    return this.#seen.has(sandbox);
  }

  isNeeded(layer: string): boolean {
    return this.#users.has(layer) || this.#unread.has(ownerOf(layer));
  }

  /** Layers that one sandbox needs, by its id, and no other sandbox, origin or checkpoint does. */
  alone(): Map<string, string[]> {
    const alone = new Map<string, string[]>();
    for (const [layer, users] of this.#users) {
      const [first] = users;
      if (users.size !== 1 || !this.#seen.has(first!) || this.#unread.has(ownerOf(layer))) continue;
      alone.set(first!, [...(alone.get(first!) ?? []), layer]);
    }
    return alone;
  }

  /** What the sandbox needs now. One that is damaged is logged, and keeps no other from being read. */
  async add({ id, record: { origin, checkpoints = [] } }: LiveSandbox): Promise<void> {
    this.#seen.add(id);
    for (const { layer } of checkpoints) await this.#addFrozen(layer);
    try {
      const layers = await layersOfDelta(deltaOf(id, this.#layout));
      if (layers !== undefined) for (const layer of [layers.top, ...layers.below]) this.#need(layer, id);
      else if (origin !== undefined) await this.#addFrozen(origin);
    } catch (err) {
      this.#log.warn('the journal of a sandbox cannot be read; its layers are kept', { sandbox_id: id, err });
      this.#unread.add(id);
      if (origin !== undefined) await this.#addFrozen(origin);
    }
  }

  /** As an origin or a checkpoint. */
  async #addFrozen(layer: string): Promise<void> {
    if (this.#frozen.has(layer)) return;
    this.#frozen.add(layer);
    const user = `as ${layer}`;
    this.#need(layer, user);
    try {
      for (const each of await layersOfFrozen(this.#layout.layers, layer)) this.#need(each, user);
    } catch (err) {
      this.#log.warn('a frozen layer is missing or damaged; others of its sandbox are kept', { layer, err });
      this.#unread.add(ownerOf(layer));
    }
  }

  #need(layer: string, user: string): void {
    const users = this.#users.get(layer) ?? new Set();
    this.#users.set(layer, users.add(user));
  }
}

/** The sandbox that a layer was made by, which may be gone. */
function ownerOf(layer: string): string {
  return layer.slice(0, layer.lastIndexOf('.'));
}
