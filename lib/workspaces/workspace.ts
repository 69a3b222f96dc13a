import type { ByteString } from '../byte-string.ts';
import { complete, type Steps } from '../fuse/connection/steps.ts';
import { type Notifier, Postponed } from '../fuse/filesystem.ts';
import { ESTALE } from '../linux/errno.ts';
import { S_IFDIR } from '../linux/mode.ts';
import type { Time } from '../linux/time.ts';
import { compileRules, type RuleSet, type RuleState } from '../permissions/index.ts';
import { Base } from './base/base.ts';
import type { BaseTrees, ChangingPaths } from './base/base-trees.ts';
import type { Clock } from './clock.ts';
import type { LargeCopies } from './delta/contents/large-copies.ts';
import { Damage } from './delta/damage.ts';
import { Delta, type LayersOf } from './delta/delta.ts';
import type { Inode } from './delta/index/inode.ts';
import { pathOf } from './delta/index/path-of.ts';
import type { FrozenLayers } from './delta/layers/frozen-layers.ts';
import type { Quota } from './delta/usage.ts';
import { Handles } from './files/handles.ts';
import { seeOlderDirectories } from './history/older-directories.ts';
import { dropUnshown } from './history/unused-directories.ts';
import { LISTED_BYTES, type MemoryBudget, type MemoryHolder, NODE_BYTES } from './memory-budget.ts';
import type { HostFiles } from './nodes/host-files.ts';
import type { NodeTable } from './nodes/node-table.ts';
import { NodeTree } from './nodes/node-tree.ts';
import { ResultCache } from './result-cache.ts';
import type { DamageReport, WorkspaceSpec } from './workspaces.ts';

/** What all workspaces of a mount share. */
export interface Shared {
  readonly nodes: NodeTable;
  readonly files: HostFiles;
  readonly bases: BaseTrees;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly frozen: FrozenLayers;
  readonly copies: LargeCopies;
  readonly memory: MemoryBudget;
  /** Told once of each file, and of each workspace, that is found to be damaged. */
  readonly damaged: (report: DamageReport) => void;
  /** Has steps done between requests, while nobody waits for them. */
  readonly background: (steps: Steps<unknown>) => void;
  /** Has steps done while the workspace is held; gives the cause to wait for. Absent: all is done at once. */
  readonly startHeld?: ((workspace: Workspace, steps: Steps<unknown>) => number) | undefined;
}

/** Steps that one request takes before others are served. */
const STEPS_AT_ONCE = 32;
/** The same of steps that open a workspace, of which some read 64 KiB. */
const OPENING_STEPS = 8;

interface Opened {
  base: Base;
  delta: Delta;
  tree: NodeTree;
}

/** One attached sandbox: its base, delta, rules and the nodes of it the kernel knows. Idle ones hold almost nothing. */
export class Workspace implements MemoryHolder {
  readonly spec: WorkspaceSpec;
  readonly shared: Shared;
  readonly changing: ChangingPaths;
  /** Files that callers of the service have open. */
  readonly handles = new Handles();
  /**
   * What every request for it waits for while something long is done with it a step at a time; 0: nothing. Only what the
   * base shows may change meanwhile.
   */
  heldBy = 0;
  /** What the kernel forgot meanwhile. */
  readonly pendingForgets: [nodeid: number, nlookup: number][] = [];
  /** Counted up by every change of names or rules, and when one begins: what was found out about a tree holds for one value. */
  generation = 0;
  readonly #results = new ResultCache();
  /** Nodes that the kernel knows, and names in listings of theirs. */
  knownNodes = 0;
  listedNames = 0;
  #rules: RuleSet | undefined;
  #checkpoints: readonly string[];
  #opened: Opened | undefined;
  /** Why it could not be opened a part at a time; not told yet. */
  #openFailure: { error: unknown } | undefined;
  #closed = false;
  /** Its delta is read, and is being made to fit the base. */
  #isOpening = false;
  /** Why its delta cannot be read. */
  #damage: Damage | undefined;

  constructor(spec: WorkspaceSpec, shared: Shared) {
    this.spec = spec;
    this.shared = shared;
    this.changing = shared.bases.changingOf(spec.codebaseId);
    this.#checkpoints = spec.checkpoints ?? [];
  }

  get rules(): RuleSet {
    this.#rules ??= compileRules(this.spec.rules);
    return this.#rules;
  }

  set rules(rules: RuleSet) {
    this.#rules = rules;
  }

  /** The frozen layers that the sandbox's checkpoints are. */
  setCheckpoints(layers: readonly string[]): void {
    this.#checkpoints = layers;
    if (this.#opened !== undefined) this.#countCheckpoints(this.#opened.delta);
  }

  #countCheckpoints(delta: Delta): void {
    const rest = delta.setCheckpoints(this.#checkpoints);
    if (rest !== undefined) this.shared.background(rest);
  }

  get base(): Base {
    return this.#open().base;
  }

  get delta(): Delta {
    return this.#open().delta;
  }

  get tree(): NodeTree {
    return this.#open().tree;
  }

  /** False: nothing of it was used yet, so the kernel knows nothing of it. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get maxMemory(): number {
    return this.spec.maxIndexBytes ?? 0;
  }

  get memory(): number {
    return this.#ofNodes + (this.#opened?.delta.table.memory ?? 0);
  }

  get ownMemory(): number {
    return this.#ofNodes + (this.#opened?.delta.table.ownMemory ?? 0);
  }

  get #ofNodes(): number {
    return this.knownNodes * NODE_BYTES + this.listedNames * LISTED_BYTES;
  }

  now(): Time {
    return this.shared.clock.now();
  }

  /** The sandbox changed something; not called for what is committed or discarded. */
  countChange(): void {
    if (this.spec.changeCount !== undefined) Atomics.add(this.spec.changeCount, 0, 1);
  }

  /** Rules for a path from the root of the workspace. */
  stateOf(path: ByteString): RuleState {
    return this.rules.state(path);
  }

  /**
   * What a request must find out before it can do anything. Where that takes long, others are served meanwhile: throws
   * Postponed, and gives what was found when the request is run again, by `key`. In what is done while the workspace is
   * held it is found out at once: use the steps there.
   */
  computeOrPostpone<T>(key: readonly unknown[], find: () => Steps<T>): T {
    const found = this.#results.take(key, this.generation);
    if (found !== undefined) return found.result() as T;
    const steps = find();
    for (let step = 0; step < STEPS_AT_ONCE; step++) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    const { startHeld } = this.shared;
    if (startHeld === undefined || this.heldBy !== 0) return complete(steps);
    throw new Postponed(startHeld(this, this.#storeResult(key, steps)));
  }

  *#storeResult<T>(key: readonly unknown[], steps: Steps<T>): Steps<void> {
    let result: () => T;
    try {
      const value = yield* steps;
      result = () => value;
    } catch (error) {
      result = () => {
        throw error;
      };
    }
    this.#results.store({ key, generation: this.generation, result });
  }

  /** Makes index and contents outlive a power failure. */
  sync(): void {
    this.delta.sync();
  }

  /** Syncs and gives back everything; each later use throws ESTALE. */
  close(): void {
    const opened = this.#opened;
    this.#closed = true;
    this.shared.memory.delete(this);
    this.#opened = undefined;
    if (opened === undefined) return;
    this.#releaseBase();
    opened.delta.close();
  }

  #releaseBase(): void {
    this.shared.bases.release(this.spec.codebaseId, this.spec.base);
  }

  #layers(): LayersOf {
    const { id, delta, layers, origin } = this.spec;
    const { frozen, copies } = this.shared;
    const damaged = (inode: Inode, message: string) => this.shared.damaged({ id, message, path: pathOf(inode) });
    const startSteps = this.shared.startHeld && ((steps: Steps<unknown>) => this.#start(steps));
    return layers === undefined
      ? { root: `${delta}/data`, prefix: '', frozen, copies, damaged, startSteps }
      : { root: layers, prefix: `${id}.`, frozen, copies, damaged, startSteps, origin };
  }

  /** False: something long is done with it, of which what asks is a part. */
  #start(steps: Steps<unknown>): boolean {
    if (this.heldBy !== 0 || this.#isOpening) return false;
    this.shared.startHeld?.(this, steps);
    return true;
  }

  /** The delta is read at the first use, not when the sandbox is attached: most of a thousand are never used. */
  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const failure = this.#openFailure;
    this.#openFailure = undefined;
    if (failure !== undefined) throw failure.error;
    const steps = this.opening();
    const { startHeld } = this.shared;
    if (startHeld === undefined || this.heldBy !== 0) return complete(steps);
    for (let step = 0; step < OPENING_STEPS; step++) {
      const { done, value } = steps.next();
      if (done) return value;
    }
    throw new Postponed(startHeld(this, this.#storeFailure(steps)));
  }

  /** Whoever waited asks again, and is told. */
  *#storeFailure(steps: Steps<unknown>): Steps<void> {
    try {
      yield* steps;
    } catch (error) {
      this.#openFailure = { error };
    }
  }

  /** Reads a large delta a part at a time; the caller lets nobody else use the workspace meanwhile. */
  *opening(): Steps<Opened> {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#closed) throw ESTALE;
    const { codebaseId, maxBytes, maxFiles } = this.spec;
    const base = new Base(this.spec.base, this.shared.bases.use(codebaseId, this.spec.base));
    try {
      const delta = yield* this.#openDelta({ maxBytes, maxFiles });
      if (this.#checkpoints.length > 0) this.#countCheckpoints(delta);
      const root = this.shared.nodes.add(this, S_IFDIR);
      const tree = new NodeTree(this, base, delta, root);
      this.#opened = { base, delta, tree };
      this.shared.memory.add(this);
    } catch (error) {
      this.#releaseBase();
      throw error;
    }
    this.#isOpening = true;
    try {
      if (this.#opened.delta.older) yield* seeOlderDirectories(this);
      // The base may have changed while nothing was read of the delta.
      yield* dropUnshown(this, 'base gone');
    } finally {
      this.#isOpening = false;
    }
    return this.#opened;
  }

  /** A damaged one is told of once, and is not read again. */
  *#openDelta(quota: Quota): Steps<Delta> {
    if (this.#damage !== undefined) throw this.#damage;
    try {
      return yield* Delta.load(this.spec.delta, this.#layers(), quota, () => this.now());
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      this.#damage = new Damage(`what the sandbox changed is damaged: ${error.message}`);
      this.shared.damaged({ id: this.spec.id, message: this.#damage.message });
      throw this.#damage;
    }
  }
}
