import type { ByteString } from '../byte-string.ts';
import { complete, resumed, type Steps, Waiting } from '../fuse/connection/steps.ts';
import { Postponed } from '../fuse/filesystem.ts';
import { ESTALE } from '../linux/errno.ts';
import type { Time } from '../linux/time.ts';
import { compileRules, compiling, type RuleSet, type RuleState } from '../permissions/index.ts';
import { Refusals } from './access/refusals.ts';
import { Handles } from './files/handles.ts';
import { Unpackings } from './files/unpackings.ts';
import { LISTED_BYTES, type MemoryHolder, NODE_BYTES } from './memory-budget.ts';
import type { NodeTree } from './nodes/node-tree.ts';
import { ResultCache } from './result-cache.ts';
import type { Shared } from './shared.ts';
import type { StoredFiles } from './stored/stored-files.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** Steps that one request runs before other requests are served. */
const STEPS_PER_REQUEST = 32;
/** The same for the steps that open a workspace; some of them read 64 KiB. */
const OPENING_STEPS = 8;

interface Held {
  readonly bytes: number;
  readonly files: number;
}

/** What may be written yet, and what is there already, beside it, too. */
interface Room {
  /** Bytes by which all sandboxes of the owner may grow; Infinity: no limit. */
  readonly ownerRoom: number;
  /** The same of the disk. */
  readonly diskRoom: number;
  readonly used: Held;
  /** As `used`, without what is beside it. */
  readonly held: Held;
}

/** A workspace whose state has been read. */
export interface Opened {
  readonly tree: NodeTree;
  readonly room: Room;
  /** Bytes in memory besides nodes and listings; `ownMemory`: without what others share. */
  readonly memory: number;
  readonly ownMemory: number;
  /** The keys of the placeholders that texts of the agent may have, in hexadecimal; the sandbox's own may be missing. */
  readonly placeholderKeys: readonly string[];
  /** Makes it durable. Throws host errors. */
  syncing(): Steps<void>;
  /** Without a sync. */
  close(): void;
}

/** One attached sandbox: its files, rules and the nodes that the kernel knows. Its owner calls `close`. */
export abstract class Workspace<O extends Opened = Opened> implements MemoryHolder {
  readonly spec: WorkspaceSpec;
  readonly shared: Shared<Workspace>;
  /** How its files are stored. */
  abstract readonly stored: StoredFiles;
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
  /** Incremented by every change of names or rules, also when it begins: cached results are valid for one value. */
  generation = 0;
  readonly #results = new ResultCache();
  /** Nodes that the kernel knows, and names in their listings; both count as memory. */
  knownNodes = 0;
  listedNames = 0;
  #rules: RuleSet | undefined;
  /** The rules as they were given. */
  givenRules: WorkspaceSpec['rules'];
  #opened: O | undefined;
  /** The error of opening in steps, until a request reports it. */
  #openFailure: { error: unknown } | undefined;
  #closed = false;
  /** Its state has been read, and opening goes on. */
  #isOpening = false;

  constructor(spec: WorkspaceSpec, shared: Shared<Workspace>) {
    this.spec = spec;
    this.givenRules = spec.rules;
    this.shared = shared;
  }

  /** Reads the state, in steps. */
  protected abstract loading(): Steps<O>;

  /** What is done once the state was read, before it is used. */
  protected abstract settling(opened: O): Steps<void>;

  /** Called after `close`. */
  protected abstract closed(): void;

  /** The rules, which opening compiles in steps; before that, all at once. Throws INVALID_ARGUMENT. */
  get rules(): RuleSet {
    this.#rules ??= compileRules(this.spec.rules);
    return this.#rules;
  }

  setRules(given: WorkspaceSpec['rules'], compiled: RuleSet): void {
    this.givenRules = given;
    this.#rules = compiled;
  }

  /** Opens the workspace at first use. Throws ESTALE, Damage, host errors and Postponed. */
  protected get opened(): O {
    return this.#open();
  }

  get tree(): O['tree'] {
    return this.#open().tree;
  }

  get room(): Room {
    return this.#open().room;
  }

  get placeholderKeys(): readonly string[] {
    return this.#open().placeholderKeys;
  }

  /** Undefined before it is opened. */
  protected get openedYet(): O | undefined {
    return this.#opened;
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
    return nodes + this.unpackings.memory + (this.#opened?.[which] ?? 0);
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
    if (this.#opened !== undefined) yield* this.#opened.syncing();
  }

  /** Releases everything, without a sync. Later use throws ESTALE. */
  close(): void {
    const opened = this.#opened;
    this.#closed = true;
    this.shared.memory.delete(this);
    this.#opened = undefined;
    if (opened === undefined) return;
    this.closed();
    opened.close();
  }

  /** Starts steps with the workspace held. Returns false during another long operation; the caller is a part of it. */
  protected start(steps: Steps<unknown>): boolean {
    if (this.heldBy !== 0 || this.#isOpening) return false;
    this.shared.startHeld?.(this, steps);
    return true;
  }

  /** Opens the workspace at first use, not when it is attached: most of a thousand sandboxes are never used. */
  #open(): O {
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

  /** Opens the workspace in steps. The caller prevents every other use in the meantime. Throws as `opened`. */
  *opening(): Steps<O> {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#closed) throw ESTALE;
    this.#rules ??= yield* compiling(this.spec.rules);
    this.#opened = yield* this.loading();
    if (!this.spec.isHome) this.shared.memory.add(this);
    this.#isOpening = true;
    try {
      yield* this.settling(this.#opened);
    } finally {
      this.#isOpening = false;
    }
    return this.#opened;
  }
}
