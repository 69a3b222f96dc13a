import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ResourceLimits, Runtime as RuntimeName } from '../messages.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { LayerReclaimer } from './checkpoints/layer-reclaimer.ts';
import type { Clock } from './host/clock.ts';
import type { UidSlots } from './host/uid-slots.ts';
import { type Platform, removeDelta } from './lifecycle/bring-up.ts';
import type { LiveSandbox } from './sandbox.ts';

export interface Settings {
  /** Of a request that names none. */
  runtime: RuntimeName;
  defaultImage: string;
  /** Milliseconds; 0: never. */
  defaultExpiration: number;
  /** Milliseconds. */
  defaultTimeout: number;
  maxTimeout: number;
  /** 0: no limit. */
  maxPerUser: number;
  defaultResources: ResourceLimits;
}

/** What the operations on sandboxes share. */
export class SandboxContext {
  readonly metadata: Metadata;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly uids: UidSlots;
  readonly clock: Clock;
  readonly log: Log;
  /** All there are, also those being made or destroyed. */
  readonly sandboxes = new Map<string, LiveSandbox>();
  /** Deltas of sandboxes that are gone, which could not be removed yet: id and the uid they hold. */
  readonly leftovers = new Map<string, number | undefined>();
  readonly layers: LayerReclaimer;
  readonly #removing = new Set<string>();
  #layersLeft = false;
  closing = false;

  constructor(parts: Pick<SandboxContext, 'metadata' | 'platform' | 'settings' | 'uids' | 'clock' | 'log'>) {
    this.metadata = parts.metadata;
    this.platform = parts.platform;
    this.settings = parts.settings;
    this.uids = parts.uids;
    this.clock = parts.clock;
    this.log = parts.log;
    this.layers = new LayerReclaimer(parts.platform.layout.layers);
  }

  find(id: string): LiveSandbox {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw new ServiceError('NOT_FOUND', `sandbox ${JSON.stringify(id)} does not exist`);
    return sandbox;
  }

  /** Runs `task` when no other change of this sandbox runs; NOT_FOUND when one before destroyed it. */
  async change<T>(id: string, task: (sandbox: LiveSandbox) => Promise<T>): Promise<T> {
    const sandbox = this.find(id);
    return sandbox.queue.run(async () => {
      this.refuseWhenClosing();
      return task(this.find(id));
    });
  }

  refuseWhenClosing(): void {
    if (this.closing) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
  }

  /** The end of one that is taken down and has no record any more. */
  async forget(sandbox: LiveSandbox): Promise<void> {
    await this.removeLeftover(sandbox.id, sandbox.record.uid);
    this.sandboxes.delete(sandbox.id);
    if (this.#layersLeft) this.reclaimLayers();
  }

  /** Removes layers that nobody needs any more, in the background. */
  reclaimLayers(): void {
    this.#layersLeft = false;
    this.layers.reclaim(this);
  }

  /** The uid is given back only with the last file it may own; what cannot be removed is tried again by `expire`. */
  async removeLeftover(id: string, uid: number | undefined): Promise<void> {
    if (this.#removing.has(id)) return;
    this.#removing.add(id);
    try {
      if (await removeDelta(id, this.platform)) this.#layersLeft = true;
      this.leftovers.delete(id);
      if (uid !== undefined) this.uids.release(uid);
    } catch (err) {
      this.leftovers.set(id, uid);
      this.log.error('what a sandbox wrote could not be removed; it is tried again', { sandbox_id: id, err });
    } finally {
      this.#removing.delete(id);
    }
  }
}
