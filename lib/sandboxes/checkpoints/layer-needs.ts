import type { Log } from '../../log.ts';
import { layersOfFrozen } from '../../workspaces/delta/layers/layers-on-disk.ts';
import type { Layout } from '../host/layout.ts';
import type { LiveSandbox } from '../sandbox.ts';
import type { DeltaHeaders } from './delta-headers.ts';

/**
 * The layers that each sandbox needs, as read from the disk. Entries are only added: a layer that was needed at any
 * time of reading counts as needed.
 */
export class LayerNeeds {
  readonly #layout: Layout;
  readonly #deltas: DeltaHeaders;
  readonly #log: Log;
  readonly #users = new Map<string, Set<string>>();
  /** Sandboxes of which all layers are kept, because some record that may refer to them cannot be read. */
  readonly #unread = new Set<string>();
  readonly #frozen = new Set<string>();
  readonly #added = new Set<string>();

  constructor(layout: Layout, deltas: DeltaHeaders, log: Log) {
    this.#layout = layout;
    this.#deltas = deltas;
    this.#log = log;
  }

  /** Whether the needs of the sandbox were added. */
  has(sandbox: string): boolean {
    return this.#added.has(sandbox);
  }

  /** Counts a sandbox without a delta, an origin and a checkpoint as added: it needs no layer. */
  pass(sandbox: string): void {
    this.#added.add(sandbox);
  }

  /** Whether the layer must be kept: someone needs it, or may, since a record could not be read. */
  isNeeded(layer: string): boolean {
    return this.#users.has(layer) || this.#unread.has(ownerOf(layer));
  }

  /** Layers that are needed by a single sandbox, by its id, and by no origin or checkpoint. */
  alone(): Map<string, string[]> {
    const alone = new Map<string, string[]>();
    for (const [layer, users] of this.#users) {
      const [first] = users;
      if (users.size !== 1 || !this.#added.has(first!) || this.#unread.has(ownerOf(layer))) continue;
      const others = alone.get(first!);
      if (others === undefined) alone.set(first!, [layer]);
      else others.push(layer);
    }
    return alone;
  }

  /**
   * Adds the present needs of the sandbox. A damaged one is logged and does not prevent the others from being read.
   * `hasDelta`: false if it had none when the layers were listed; one that it has since needs no others of them.
   */
  async add(sandbox: LiveSandbox, hasDelta = true): Promise<void> {
    const {
      id,
      record: { origin, checkpoints = [] },
    } = sandbox;
    this.#added.add(id);
    for (const { layer } of checkpoints) await this.#addFrozen(layer, sandbox);
    try {
      const layers = hasDelta ? await this.#deltas.layersOf(id) : undefined;
      if (layers !== undefined) for (const layer of [layers.top, ...layers.below]) this.#need(layer, id);
      else if (origin !== undefined) await this.#addFrozen(origin, sandbox);
    } catch (err) {
      this.#log.warn('journal of a sandbox unreadable; its layers are kept', { sandbox_id: id, err });
      this.#unread.add(id);
      if (origin !== undefined) await this.#addFrozen(origin, sandbox);
    }
  }

  /** Adds a layer needed as an origin or a checkpoint of the sandbox. */
  async #addFrozen(layer: string, sandbox: LiveSandbox): Promise<void> {
    if (this.#frozen.has(layer)) return;
    this.#frozen.add(layer);
    const user = `as ${layer}`;
    this.#need(layer, user);
    try {
      for (const each of await layersOfFrozen(this.#layout.layers, layer)) this.#need(each, user);
    } catch (err) {
      // Otherwise the sandbox or the checkpoint was removed meanwhile, and the layer with it.
      if (refersTo(sandbox, layer))
        this.#log.warn('frozen layer missing or damaged; the other layers of its sandbox are kept', { layer, err });
      this.#unread.add(ownerOf(layer));
    }
  }

  #need(layer: string, user: string): void {
    const users = this.#users.get(layer) ?? new Set();
    this.#users.set(layer, users.add(user));
  }
}

/** Whether the sandbox still has the layer as its origin or as one of its checkpoints. */
function refersTo({ destroying, record: { origin, checkpoints = [] } }: LiveSandbox, layer: string): boolean {
  return !destroying && (origin === layer || checkpoints.some((checkpoint) => checkpoint.layer === layer));
}

/** The id of the sandbox that created a layer; the sandbox may no longer exist. */
function ownerOf(layer: string): string {
  return layer.slice(0, layer.lastIndexOf('.'));
}
