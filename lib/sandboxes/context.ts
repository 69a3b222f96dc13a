import type { ResourceLimits, Runtime as RuntimeName } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import type { OnExpire } from '../field-values.ts';
import { UploadRoom } from '../host-tree/upload-room.ts';
import type { OwnerLimitSource } from '../limits/stored-limits.ts';
import type { Log } from '../log.ts';
import type { Metadata, SandboxRecord } from '../metadata/metadata.ts';
import type { Ceiling } from '../network/policy/policy.ts';
import { countOf } from '../workspaces/delta/layers/layer-path.ts';
import { LayerReclaimer } from './checkpoints/layer-reclaimer.ts';
import { MappedFiles } from './files/mapped-files.ts';
import type { Clock } from './host/clock.ts';
import type { UidSlots } from './host/uid-slots.ts';
import { type Platform, type RemovedLayers, removeDelta } from './lifecycle/bring-up.ts';
import { BringUpOrder } from './lifecycle/bring-up-order.ts';
import { GoneSandboxes } from './lifecycle/gone.ts';
import { RuleWarnings } from './permissions/warnings/rule-warnings.ts';
import { PortLooks } from './ports/port-looks.ts';
import { type ProcessLimits, ProcessTable } from './processes/process-table.ts';
import type { ReadySandboxes } from './ready/ready-sandboxes.ts';
import type { LiveSandbox } from './sandbox.ts';
import { SandboxSet } from './sandbox-set.ts';
import { SessionTable } from './sessions/session-table.ts';

/** Sandboxes that are brought up again at a time. */
const BRING_UPS = 8;

/** What happens to sandboxes that expire. */
export interface ExpirySettings {
  /** Of requests that do not specify it. */
  onExpire: OnExpire;
  /** Milliseconds after its expiry until a sandbox that was kept is destroyed; 0: never. */
  retention: number;
  /** Maximum number of kept sandboxes of one owner; 0: no limit. */
  maxKept: number;
}

export interface NetworkSettings {
  enabled: boolean;
  allowMax: Ceiling;
  /** The daemon gives containers a network of its own. */
  isDockers: boolean;
}

export interface Settings {
  /** Runtime of requests that do not specify one. */
  runtime: RuntimeName;
  defaultImage: string;
  /** Host paths at or below which sandboxes may be shown what their creators name. */
  mountablePaths: readonly string[];
  /** Real paths of the server's state and keys, which no sandbox is shown. */
  protectedPaths: readonly string[];
  /** Milliseconds; 0: never. */
  defaultExpiration: number;
  /** What happens to expired sandboxes. */
  expiry: ExpirySettings;
  /** Milliseconds. */
  defaultTimeout: number;
  maxTimeout: number;
  /** The limits of the owners of sandboxes. */
  owners: OwnerLimitSource;
  defaultResources: ResourceLimits;
  processes: ProcessLimits;
  /** Maximum number of active sessions of one sandbox. */
  sessions: number;
  network: NetworkSettings;
}

/** State shared by the operations on sandboxes. */
export class SandboxContext {
  readonly metadata: Metadata;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly uids: UidSlots;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: none are kept ready. */
  readonly ready: ReadySandboxes | undefined;
  /** All sandboxes, including those being created or destroyed. */
  readonly sandboxes = new SandboxSet();
  /** Deltas of destroyed sandboxes that could not be removed yet: sandbox id and the uid that owns the files. */
  readonly leftovers = new Map<string, number | undefined>();
  /** Those whose user another sandbox has, or nobody. */
  readonly withForeignUser = new Set<LiveSandbox>();
  /** Of those that ran under the last server, or on a file system that failed. */
  readonly bringUps = new BringUpOrder(BRING_UPS);
  readonly layers: LayerReclaimer;
  readonly gone: GoneSandboxes;
  readonly processes: ProcessTable;
  readonly sessions: SessionTable;
  readonly warnings: RuleWarnings;
  readonly ports = new PortLooks();
  readonly mappings = new MappedFiles();
  readonly #removing = new Set<string>();
  #layersLeft = false;
  closing = false;

  constructor(
    parts: Pick<SandboxContext, 'metadata' | 'platform' | 'settings' | 'uids' | 'clock' | 'log'> & {
      ready?: ReadySandboxes | undefined;
    },
  ) {
    this.ready = parts.ready;
    this.metadata = parts.metadata;
    this.platform = parts.platform;
    this.settings = parts.settings;
    this.uids = parts.uids;
    this.clock = parts.clock;
    this.log = parts.log;
    this.warnings = new RuleWarnings((codebaseId) => parts.platform.basePath(codebaseId), parts.log);
    this.gone = new GoneSandboxes(parts.metadata, parts.clock);
    this.layers = new LayerReclaimer(parts.platform.layout.layers);
    this.sessions = new SessionTable(parts.settings.sessions, () => Math.floor(parts.clock.now() / 1000));
    const { layout, reserve } = parts.platform;
    const room = new UploadRoom(layout.processes, reserve);
    this.processes = new ProcessTable({
      dir: layout.processes,
      diskRoom: () => room.bytes,
      limits: parts.settings.processes,
      now: () => parts.clock.now(),
      log: parts.log,
    });
  }

  /** Adds a sandbox, whose delta counts for its owner until `forget`. */
  add(sandbox: LiveSandbox): void {
    const { owner_id, delta_bytes = 0, home_bytes = 0 } = sandbox.record;
    sandbox.clock = this.clock;
    if (sandbox.hasForeignUser) this.withForeignUser.add(sandbox);
    sandbox.ownerBytes = this.platform.ownerDeltas?.add(owner_id, delta_bytes, home_bytes);
    this.sandboxes.set(sandbox.id, sandbox);
  }

  /** The sandbox, also one that is being created or destroyed. NOT_FOUND; see `GoneSandboxes`. */
  find(id: string): LiveSandbox {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw this.gone.error(id);
    return sandbox;
  }

  /** Runs `task` exclusively among the changes of this sandbox; NOT_FOUND if a previous one destroyed it. */
  async change<T>(id: string, task: (sandbox: LiveSandbox) => Promise<T>): Promise<T> {
    const sandbox = this.find(id);
    this.bringUps.hurry(id);
    return sandbox.queue.run(async () => {
      this.refuseWhenClosing();
      return task(this.find(id));
    });
  }

  /** Waits for the changes of the sandbox that have been requested. NOT_FOUND if its idle policy destroyed it. */
  async settled(sandbox: LiveSandbox): Promise<void> {
    const { ending } = sandbox;
    this.bringUps.hurry(sandbox.id);
    await sandbox.queue.run(async () => undefined);
    if (ending) this.find(sandbox.id);
  }

  /** Throws UNAVAILABLE once the server is shutting down. */
  refuseWhenClosing(): void {
    if (this.closing) throw new ServiceError('UNAVAILABLE', 'the server is shutting down');
  }

  /** Ends the life of a sandbox that is taken down and has no record. */
  async forget(sandbox: LiveSandbox): Promise<void> {
    const { id, record } = sandbox;
    const { uid } = record;
    this.withForeignUser.delete(sandbox);
    const isShared = sandbox.hasForeignUser || this.isForeignUser(uid);
    const layers = await this.#removeFiles(id, isShared ? undefined : uid);
    this.sandboxes.delete(id);
    if (sandbox.ownerBytes) this.platform.ownerDeltas?.remove(record.owner_id, sandbox.ownerBytes);
    // Not before it is deleted: the last two forks of a layer may be destroyed at once.
    if (this.#mayLeaveLayers(record, layers)) this.#layersLeft = true;
    this.reclaimLeft();
  }

  /** Whether a sandbox without a user of its own has the number of this one on record. */
  isForeignUser(uid: number): boolean {
    return [...this.withForeignUser].some((other) => other.record.uid === uid);
  }

  /** Where a sandbox that was removed, or a reclaim that failed, may have left layers that nobody needs. */
  reclaimLeft(): void {
    if (this.#layersLeft || this.layers.hasFailed) this.reclaimLayers();
  }

  /** Removes unneeded layers in the background. */
  reclaimLayers(): void {
    this.#layersLeft = false;
    this.layers.reclaim(this);
  }

  /** Whether nobody may need some layer that a removed sandbox had: all sandboxes are asked then. */
  #mayLeaveLayers({ id, origin, checkpoints }: SandboxRecord, layers: RemovedLayers): boolean {
    if (layers === 'unknown' || checkpoints !== undefined) return true;
    const { top, below } = layers ?? { top: '', below: [] };
    const own = `${id}.`;
    // A rewritten journal names no layer without contents of its state; one that no record names is left by a crash.
    if (top.startsWith(own) && countOf(own, top) > 0) return true;
    if (below.some((layer) => layer.startsWith(own))) return true;
    // All others are those of its origin: the last sandbox with the same one looks for what is left.
    return origin === undefined ? below.length > 0 : !this.sandboxes.hasOrigin(origin);
  }

  /** Removes what a sandbox without a record left. */
  async removeLeftover(id: string, uid: number | undefined): Promise<void> {
    const layers = await this.#removeFiles(id, uid);
    if (layers === 'unknown' || (layers !== undefined && layers.below.length > 0)) this.#layersLeft = true;
  }

  /**
   * The uid is released after the last file that it may own has been removed; a failed removal is retried by `expire`.
   */
  async #removeFiles(id: string, uid: number | undefined): Promise<RemovedLayers> {
    if (this.#removing.has(id)) return undefined;
    this.#removing.add(id);
    try {
      const layers = await removeDelta(id, this.platform);
      await this.processes.forget(id);
      this.leftovers.delete(id);
      if (uid !== undefined) this.uids.release(uid);
      return layers;
    } catch (err) {
      this.leftovers.set(id, uid);
      this.log.error('delta of a destroyed sandbox could not be removed, will retry', { sandbox_id: id, err });
      // The next attempt may not find its layers' names.
      return 'unknown';
    } finally {
      this.#removing.delete(id);
    }
  }
}
