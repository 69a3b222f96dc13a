import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { errorCode } from '../../linux/errno.ts';
import type { Log } from '../../log.ts';
import type { Platform } from '../lifecycle/bring-up.ts';
import type { LiveSandbox } from '../sandbox.ts';
import { DeltaHeaders } from './delta-headers.ts';
import { LayerNeeds } from './layer-needs.ts';
import { NeedsGate } from './needs-gate.ts';

/** The parts of the sandboxes' operations that the reclaimer uses. */
interface ReclaimContext {
  /** All sandboxes, including those being created or destroyed. */
  readonly sandboxes: ReadonlyMap<string, LiveSandbox>;
  readonly platform: Platform;
  readonly log: Log;
  /** Runs `task` exclusively among the changes of the sandbox. */
  change<T>(id: string, task: (sandbox: LiveSandbox) => Promise<T>): Promise<T>;
}

/** Name prefix of layers that are being removed; no layer of a sandbox starts with it. */
const REMOVED = '.removed-';
/** Sandboxes that are passed over in one turn. */
const TURN = 1000;

/**
 * Removes layers that no sandbox and no checkpoint needs. The needs are read from the disk each time, so there is no
 * counter that a crash could leave wrong.
 */
export class LayerReclaimer {
  readonly #root: string;
  /** Layers of unknown origin; never removed. */
  #foreign = new Set<string>();
  readonly #gate = new NeedsGate();
  #headers: DeltaHeaders | undefined;
  /** Sandboxes whose needs may have grown since the layers were listed. */
  #grown = new Set<string>();
  #growths = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #failed = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** For a server that starts without metadata: unknown sandboxes may need any existing layer. */
  async keepAll(): Promise<void> {
    this.#foreign = new Set((await readdir(this.#root)).filter((name) => !name.startsWith(REMOVED)));
  }

  /**
   * Runs `task` in the sandbox's queue: from the freeze until the records of the checkpoint or forks are stored. No
   * layer is removed meanwhile.
   */
  growing<T>(id: string, task: () => Promise<T>): Promise<T> {
    return this.#gate.shared(() => {
      this.#growths++;
      this.#grown.add(id);
      return task();
    });
  }

  /** Reclaims in the background, one run at a time; a request during a run starts another one afterwards. */
  reclaim(context: ReclaimContext): void {
    this.#again = true;
    this.#running ??= this.#run(context);
  }

  /** The last run failed: it may have left unneeded layers, which no event need ask for again. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  /** Resolves when the present run, if any, and all requested runs are done. */
  get done(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Resolves when no run is in progress; further requests are left to the next server. */
  async idle(): Promise<void> {
    this.#again = false;
    await this.#running;
  }

  async #run(context: ReclaimContext): Promise<void> {
    while (this.#again) {
      this.#again = this.#failed = false;
      await this.#once(context).catch((err: unknown) => {
        this.#failed = true;
        context.log.error('unneeded layers could not be removed, will retry', { err });
      });
    }
    // In the step that found no request: one that comes later starts a run of its own.
    this.#running = undefined;
  }

  /**
   * The journals cannot be read atomically. They are read while work continues; then freezes and forks are blocked, and
   * the sandboxes whose needs may have grown are read again. Until the removal no new need can arise.
   */
  async #once(context: ReclaimContext): Promise<void> {
    const { sandboxes, platform, log } = context;
    this.#grown = new Set();
    // Listed before the sandboxes, so that a layer created later is no candidate.
    const found = await readdir(this.#root);
    if (found.length === 0) return;
    this.#headers ??= new DeltaHeaders(platform.layout);
    const needs = new LayerNeeds(platform.layout, this.#headers, log);
    const hasDelta = await this.#headers.look();
    await inTurns(sandboxes.values(), async (sandbox) => {
      const { origin, checkpoints } = sandbox.record;
      const has = hasDelta(sandbox.id);
      if (has || origin !== undefined || checkpoints !== undefined) await needs.add(sandbox, has);
      else needs.pass(sandbox.id);
    });
    const [removed, growths] = await this.#gate.exclusive(async () => {
      await inTurns(sandboxes.values(), async (sandbox) => {
        if (this.#grown.has(sandbox.id) || !needs.has(sandbox.id)) await needs.add(sandbox);
      });
      return [await this.#takeAway(found, needs), this.#growths];
    });
    for (const name of removed) await platform.removeTree(join(this.#root, name));
    if (removed.length > 0) await platform.mount.layersRemoved();
    await this.#compact(context, needs, growths);
  }

  /** Renames each layer in one step; after a crash the next run removes the renamed layers. */
  async #takeAway(found: readonly string[], needs: LayerNeeds): Promise<string[]> {
    const removed: string[] = [];
    for (const layer of found) {
      if (needs.isNeeded(layer) || this.#foreign.has(layer)) continue;
      const name = layer.startsWith(REMOVED) ? layer : `${REMOVED}${layer}`;
      // A sandbox destroyed meanwhile removed its own layer.
      const taken = await rename(join(this.#root, layer), join(this.#root, name)).then(
        () => true,
        (error) => {
          if (errorCode(error) === 'ENOENT') return false;
          throw error;
        },
      );
      if (taken) removed.push(name);
    }
    return removed;
  }

  /**
   * Compacts layers that only one sandbox needs and that are not its top: they may contain much that is overwritten.
   */
  async #compact(context: ReclaimContext, needs: LayerNeeds, growths: number): Promise<void> {
    for (const [id, layers] of needs.alone()) {
      if (!context.sandboxes.get(id)?.attached) continue;
      // Only a freeze or fork, which runs in the sandbox's queue too, could make others need them.
      const compact = async ({ attached }: LiveSandbox) => {
        if (!attached) return 'kept';
        return this.#growths === growths ? context.platform.mount.compact(id, layers) : 'more';
      };
      const outcome = await context.change(id, compact).catch(() => 'kept');
      if (outcome !== 'kept') this.#again = true;
    }
  }
}

/** Runs the task for each of the present items; others have their turn between those that wait for nothing. */
async function inTurns<T>(items: Iterable<T>, task: (item: T) => Promise<void>): Promise<void> {
  let left = TURN;
  for (const item of [...items]) {
    await task(item);
    if (--left > 0) continue;
    await turn();
    left = TURN;
  }
}
