import type { ByteString } from '../byte-string.ts';
import { complete, resumed, type Steps, Waiting } from '../fuse/connection/steps.ts';
import { Postponed } from '../fuse/filesystem.ts';
import { ESTALE } from '../linux/errno.ts';
import { S_IFDIR } from '../linux/mode.ts';
import type { Time } from '../linux/time.ts';
import { compileRules, compiling, type RuleSet, type RuleState } from '../permissions/index.ts';
import { Refusals } from './access/refusals.ts';
import { Base } from './base/base.ts';
import type { ChangingPaths } from './base/base-trees.ts';
import { Damage } from './delta/damage.ts';
import { Delta } from './delta/delta.ts';
import { quotaOf } from './delta/quota-of.ts';
import type { Quota } from './delta/usage.ts';
import { Handles } from './files/handles.ts';
import { Unpackings } from './files/unpackings.ts';
import { recordOlderDirectories } from './history/older-directories.ts';
import { fitToBase } from './history/unused-directories.ts';
import { layersFor } from './layers-for.ts';
import { LISTED_BYTES, type MemoryHolder, NODE_BYTES } from './memory-budget.ts';
import type { Node } from './nodes/node.ts';
import { NodeTree } from './nodes/node-tree.ts';
import type { OpenWorkspace } from './open-workspace.ts';
import { ResultCache } from './result-cache.ts';
import type { Shared } from './shared.ts';
import type { StoredFiles } from './stored/stored-files.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** Steps that one request runs before other requests are served. */
const STEPS_PER_REQUEST = 32;
/** The same for the steps that open a workspace; some of them read 64 KiB. */
const OPENING_STEPS = 8;

type Opened = Pick<OpenWorkspace, 'base' | 'delta' | 'tree'>;

/** One attached sandbox: base, delta, rules and the nodes that the kernel knows. Its owner calls `close`. */
export class Workspace implements MemoryHolder {
  readonly spec: WorkspaceSpec;
  readonly shared: Shared<Workspace>;
  readonly changing: ChangingPaths;
  /** How its files are stored. */
  readonly stored: StoredFiles;
  /** Files that API clients have open. */
  readonly handles = new Handles();
  readonly unpackings = new Unpackings();
  readonly refusals = new Refusals();
  /** The other directory of its sandbox, while both are attached: HOME, or of HOME the workspace. */
  beside: Workspace | undefined;
  /** The cause that requests wait for while a long operation runs in steps, in which only the base may change; 0: none. */
  heldBy = 0;
  /** The cause that requests of programs and clients wait for while a commit of the workspace is made; 0: none. */
  pausedBy = 0;
  /** FORGET requests received while the workspace is held. */
  readonly pendingForgets: [nodeid: number, nlookup: number][] = [];
  /** See `OpenWorkspace`, as the next four; incremented when a change begins, too: cached results are valid for one value. */
  generation = 0;
  hasMoved = false;
  hasMovedOfBase = false;
  fittedTo: number | undefined;
  awaitsRebase = false;
  readonly #results = new ResultCache();
  /** Its root, if the kernel knew the directory before the workspace took it. */
  readonly #place: Node<Workspace> | undefined;
  /** Nodes that the kernel knows, and names in their listings; both count as memory. */
  knownNodes = 0;
  listedNames = 0;
  #rules: RuleSet | undefined;
  /** The rules as they were given. */
  givenRules: WorkspaceSpec['rules'];
  #checkpoints: readonly string[];
  #opened: Opened | undefined;
  /** The error of opening in steps, until a request reports it. */
  #openFailure: { error: unknown } | undefined;
  #closed = false;
  /** The delta has been read and is being adapted to the base. */
  #isOpening = false;
  /** Why the delta cannot be read. */
  #damage: Damage | undefined;

  constructor(spec: WorkspaceSpec, shared: Shared<Workspace>, place?: Node<Workspace>) {
    this.spec = spec;
    this.givenRules = spec.rules;
    this.shared = shared;
    this.stored = shared.storedFiles(this);
    this.#place = place;
    this.changing = shared.bases.changingOf(spec.codebaseId);
    this.#checkpoints = spec.checkpoints ?? [];
  }

  /** The rules, which opening compiles in steps; before that, all at once. Throws INVALID_ARGUMENT. */
  get rules(): RuleSet {
    this.#rules ??= compileRules(this.spec.rules);
    return this.#rules;
  }

  setRules(given: WorkspaceSpec['rules'], compiled: RuleSet): void {
    this.givenRules = given;
    this.#rules = compiled;
  }

  setCheckpoints(layers: readonly string[]): void {
    this.#checkpoints = layers;
    if (this.#opened !== undefined) this.#countCheckpoints(this.#opened.delta);
  }

  #countCheckpoints(delta: Delta): void {
    const rest = delta.setCheckpoints(this.#checkpoints);
    if (rest !== undefined) this.shared.background(rest);
  }

  /** This and the next two open the workspace at first use. They throw ESTALE, Damage, host errors and Postponed. */
  get base(): Base {
    return this.#open().base;
  }

  get delta(): Delta {
    return this.#open().delta;
  }

  get tree(): NodeTree {
    return this.#open().tree;
  }

  /** Whether the workspace has been used. If not, the kernel knows nothing of it, or nothing but that its root exists. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get maxMemory(): number {
    return this.spec.maxIndexBytes ?? 0;
  }

  /** This and the next: of its sandbox, with what is beside it. */
  get memory(): number {
    return this.#memoryOf('memory') + (this.beside ? this.beside.#memoryOf('memory') : 0);
  }

  get ownMemory(): number {
    return this.#memoryOf('ownMemory') + (this.beside ? this.beside.#memoryOf('ownMemory') : 0);
  }

  #memoryOf(which: 'memory' | 'ownMemory'): number {
    const nodes = this.knownNodes * NODE_BYTES + this.listedNames * LISTED_BYTES;
    return nodes + this.unpackings.memory + (this.#opened?.delta.table[which] ?? 0);
  }

  now(): Time {
    return this.shared.clock.now();
  }

  /** Counts a change made by the sandbox. Not called for commits and discards. */
  countChange(): void {
    if (this.spec.changeCount !== undefined) Atomics.add(this.spec.changeCount, 0, 1);
    this.warnReaders();
  }

  /** Makes those who read host files of this workspace themselves check whether they still may, and what they have read. */
  warnReaders(): void {
    if (this.spec.changeCount !== undefined) Atomics.add(this.spec.changeCount, 1, 1);
  }

  /** Returns the rules for a path from the root of the workspace. */
  stateOf(path: ByteString): RuleState {
    return this.rules.state(path);
  }

  /**
   * Computes a value that a request needs before it changes anything. If that takes many steps, throws Postponed, and
   * returns the value, by `key`, when the request is run again. While the workspace is held the value is computed at
   * once; use the steps directly there.
   */
  computeOrPostpone<T>(key: readonly unknown[], find: () => Steps<T>): T {
    const found = this.#results.take(key, this.generation);
    if (found !== undefined) return found.result() as T;
    const steps = find();
    for (let step = 0; step < STEPS_PER_REQUEST; step++) {
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

  /** Makes index and contents durable (fsync(2)), in steps. Throws host errors. */
  *syncing(): Steps<void> {
    if (this.#opened !== undefined) yield* this.#opened.delta.syncs.syncing();
  }

  /** Releases everything, without a sync. Later use throws ESTALE. */
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

  /** Starts steps with the workspace held. Returns false during another long operation; the caller is a part of it. */
  #start(steps: Steps<unknown>): boolean {
    if (this.heldBy !== 0 || this.#isOpening) return false;
    this.shared.startHeld?.(this, steps);
    return true;
  }

  /** Opens the workspace at first use, not when it is attached: most of a thousand sandboxes are never used. */
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
      if (value instanceof Waiting) throw new Postponed(startHeld(this, this.#storeFailure(resumed(value, steps))));
    }
    throw new Postponed(startHeld(this, this.#storeFailure(steps)));
  }

  /** The error is stored for the postponed request, which is run again. */
  *#storeFailure(steps: Steps<unknown>): Steps<void> {
    try {
      yield* steps;
    } catch (error) {
      this.#openFailure = { error };
    }
  }

  /** Opens the workspace in steps. The caller prevents every other use in the meantime. Throws as `base`. */
  *opening(): Steps<Opened> {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#closed) throw ESTALE;
    this.#rules ??= yield* compiling(this.spec.rules);
    const { codebaseId } = this.spec;
    const base = new Base(this.spec.base, this.shared.bases.use(codebaseId, this.spec.base));
    try {
      const delta = yield* this.#openDelta(quotaOf(this));
      if (this.#checkpoints.length > 0) this.#countCheckpoints(delta);
      const root = this.#place ?? this.shared.nodes.add(this, S_IFDIR);
      const tree = new NodeTree(this, base, delta, root);
      this.#opened = { base, delta, tree };
      if (!this.spec.isHome) this.shared.memory.add(this);
    } catch (error) {
      this.#releaseBase();
      throw error;
    }
    this.#isOpening = true;
    try {
      if (this.#opened.delta.older) yield* recordOlderDirectories(this);
      // The base may have changed while the workspace was not open.
      yield* fitToBase(this);
    } finally {
      this.#isOpening = false;
    }
    return this.#opened;
  }

  /** A damaged delta is reported once and not read again. */
  *#openDelta(quota: Quota): Steps<Delta> {
    if (this.#damage !== undefined) throw this.#damage;
    const startSteps = this.shared.startHeld && ((steps: Steps<unknown>) => this.#start(steps));
    const layers = layersFor(this, { isHeld: () => this.heldBy !== 0, startSteps });
    try {
      return yield* Delta.load(this.spec.delta, layers, quota, () => this.now());
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      const what = this.spec.isHome ? 'HOME' : 'the delta';
      this.#damage = new Damage(`${what} of the sandbox is damaged: ${error.message}`);
      this.shared.damaged({ id: this.spec.id, message: this.#damage.message });
      throw this.#damage;
    }
  }
}
