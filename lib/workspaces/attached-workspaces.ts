import { getHeapStatistics } from 'node:v8';
import { fromText } from '../byte-string.ts';
import { ServiceError } from '../errors.ts';
import { complete, StepCounter, type Steps } from '../fuse/connection/steps.ts';
import { AnsweredLater, type Notifier, Postponed } from '../fuse/filesystem.ts';
import { notingStale } from './access/stale-attributes.ts';
import { BaseTrees } from './base/base-trees.ts';
import { Clock } from './clock.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import { HostSyncs } from './delta/contents/host-syncs.ts';
import { LargeCopies } from './delta/contents/large-copies.ts';
import { LargeFrees } from './delta/contents/large-frees.ts';
import { makeDeltaDirectory } from './delta/delta-directory.ts';
import { FrozenLayers } from './delta/layers/frozen-layers.ts';
import type { Engine } from './engine.ts';
import { Holds, whenOpen } from './holds.ts';
import { homeName, homeOf, keyOf, openBeside } from './home.ts';
import { LAYERED } from './layered-engine.ts';
import { MemoryBudget } from './memory-budget.ts';
import { HostFiles } from './nodes/host-files.ts';
import type { Node } from './nodes/node.ts';
import { NodeTable, ROOT_NODEID } from './nodes/node-table.ts';
import { StatAhead } from './nodes/stat-ahead.ts';
import { requireNotHeld } from './pause.ts';
import { Places } from './places.ts';
import { ChangeTeller } from './watching/told-changes.ts';
import { ToucherRequests } from './watching/toucher-requests.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceFileSystemOptions } from './workspace-file-system-options.ts';
import { WorkspaceMap } from './workspace-map.ts';
import type { WorkspaceSpec } from './workspaces.ts';

/** Nodes released in one step. */
const ITEMS_PER_STEP = 64;

/** The workspaces of one mount, with what they share. */
export class AttachedWorkspaces {
  readonly nodes: NodeTable<Workspace>;
  readonly files: HostFiles;
  readonly bases: BaseTrees;
  readonly ahead: StatAhead;
  readonly frozen = new FrozenLayers();
  readonly copies: LargeCopies;
  readonly syncs: HostSyncs;
  readonly frees: LargeFrees;
  /** The workspace of the operation in progress. */
  readonly current: CurrentWorkspace;
  readonly holds: Holds;
  readonly places: Places<Workspace>;
  readonly teller: ChangeTeller;
  readonly touchers: ToucherRequests;
  /** Called when operations that are Postponed with this cause may be run again. */
  readonly released: (cause: number) => void;
  readonly #attached = new WorkspaceMap();
  /** By the names of their directories. */
  readonly #byName = new Map<string, Workspace>();
  /** Leases: workspaces that are not attached and are open for the duration of one call. */
  readonly #leased = new Map<string, Workspace>();
  readonly #engine: Engine;
  readonly #notifier: Notifier;
  readonly #clock = new Clock();
  readonly #memory: MemoryBudget;
  readonly #reports: Required<Pick<WorkspaceFileSystemOptions, 'answer' | 'damaged' | 'refused'>>;
  readonly #startSteps: ((steps: Steps<unknown>) => void) | undefined;

  constructor(notifier: Notifier, options: WorkspaceFileSystemOptions) {
    this.#engine = options.engine ?? LAYERED;
    this.nodes = new NodeTable((id) => this.#engine.directory(id));
    this.touchers = new ToucherRequests(this.nodes);
    this.#notifier = notingStale(notifier, this.nodes);
    const { answer = () => undefined, damaged = () => undefined, refused = () => undefined } = options;
    this.#reports = { answer, damaged, refused };
    this.teller = new ChangeTeller(options.tell);
    this.copies = new LargeCopies(options.startCopy);
    this.frees = new LargeFrees(options.startFree);
    this.current = options.current ?? new CurrentWorkspace();
    const maxMemory = options.maxMemory ?? getHeapStatistics().heap_size_limit / 2;
    this.#memory = new MemoryBudget(maxMemory, () => this.frozen.memory);
    this.#startSteps = options.startSteps;
    this.released = options.released ?? (() => undefined);
    this.syncs = new HostSyncs(options.startSync, this.released);
    this.files = new HostFiles(options.maxOpenFiles ?? 256);
    this.bases = new BaseTrees(options.maxOpenDirectories ?? 256);
    this.ahead = new StatAhead(this.bases);
    this.places = new Places(this.nodes);
    this.holds = new Holds({
      current: this.current,
      released: this.released,
      forget: (nodeid, nlookup) => this.forget(nodeid, nlookup),
      resumeSyncs: () => this.syncs.resume(),
    });
  }

  /**
   * Attaches a workspace, with HOME. Throws ALREADY_EXISTS, and NOT_FOUND for its place. An invalid delta fails at the first
   * use.
   */
  attach(spec: WorkspaceSpec): void {
    if (this.#attached.has(spec.id))
      throw new ServiceError('ALREADY_EXISTS', `workspace ${spec.id} is attached already`);
    const leased = this.#leased.get(spec.id);
    if (leased !== undefined) requireNotHeld(leased);
    const root = this.#rootAt(spec);
    makeDeltaDirectory(spec.delta);
    this.#endLease(spec.id);
    const workspace = this.#add(spec, root);
    if (spec.home === undefined) return;
    const ofHome = homeOf(spec, spec.home);
    // Reserved together with the one of the workspace, so it is there.
    workspace.beside = this.#add(ofHome, this.#rootAt(ofHome));
    workspace.beside.beside = workspace;
  }

  #rootAt({ place, uid }: WorkspaceSpec): Node<Workspace> | undefined {
    return place === undefined ? undefined : this.places.require(place, uid);
  }

  #add(spec: WorkspaceSpec, root: Node<Workspace> | undefined): Workspace {
    const { place } = spec;
    const key = keyOf(spec);
    const workspace = this.#open(spec, root);
    this.#attached.set(key, workspace);
    this.#byName.set(place ?? key, workspace);
    if (place === undefined) this.#notifier.invalEntry(ROOT_NODEID, fromText(key));
    else this.#notifier.invalInode(this.places.give(place, workspace));
    return workspace;
  }

  reserve(place: string, uid: number): void {
    if (this.#byName.has(place)) throw new ServiceError('ALREADY_EXISTS', `${place} is in use`);
    for (const name of [place, homeName(place)]) this.places.reserve(name, uid);
  }

  release(place: string): void {
    for (const name of [place, homeName(place)]) {
      if (this.places.release(name)) this.#notifier.invalEntry(ROOT_NODEID, fromText(name));
    }
  }

  /** Steps that detach a workspace and sync its delta. Open files fail with ESTALE from then on. */
  *detaching(workspace: Workspace): Steps<void> {
    const { spec } = workspace;
    this.current.set(spec.id);
    if (workspace.isOpen) {
      const counter = new StepCounter(ITEMS_PER_STEP);
      for (const node of workspace.tree.nodes()) {
        this.#notifier.invalInode(node.id);
        workspace.tree.closeFile(node);
        if (counter.count()) yield;
      }
      workspace.handles.closeAll(workspace.tree);
      workspace.warnReaders();
      workspace.unpackings.endAll();
      workspace.tree.releaseOrphans();
    }
    try {
      // Before it may be attached anew, which would read what is not written yet.
      yield* workspace.syncing();
    } finally {
      const key = keyOf(spec);
      const name = spec.place ?? key;
      this.#attached.delete(key);
      this.#byName.delete(name);
      this.#notifier.invalEntry(ROOT_NODEID, fromText(name));
      workspace.close();
      if (this.#attached.size === 0) this.frozen.closeFiles();
    }
  }

  find(id: string): Workspace | undefined {
    return this.#attached.get(id);
  }

  /** By the name of its directory below the mount point. */
  named(name: string): Workspace | undefined {
    return this.#byName.get(name);
  }

  /** Returns an attached workspace for an operation on it. Throws NOT_FOUND, and Postponed while it is held. */
  get(id: string): Workspace {
    const workspace = this.#attached.get(id);
    if (workspace === undefined) throw new ServiceError('NOT_FOUND', `workspace ${id} is not attached`);
    requireNotHeld(workspace);
    this.current.set(id);
    if (!workspace.isOpen) openBeside(workspace);
    return workspace;
  }

  all(): Iterable<Workspace> {
    return this.#attached.values();
  }

  /** The attached workspaces of a codebase. */
  ofCodebase(codebaseId: string): Workspace[] {
    return this.#attached.ofCodebase(codebaseId);
  }

  /** Runs steps on a workspace; one that is not attached is opened for their duration. `begin` is called before. */
  lease<T>(
    spec: WorkspaceSpec,
    act: (workspace: Workspace) => Steps<T>,
    begin: (workspace: Workspace) => void = () => undefined,
  ): Steps<T> {
    const attached = this.#attached.get(spec.id);
    const leased = attached ?? this.#leased.get(spec.id) ?? this.#open(spec);
    begin(leased);
    if (attached !== undefined) return this.holds.holdOpen(attached, act(attached));
    requireNotHeld(leased);
    this.#leased.set(spec.id, leased);
    return this.holds.hold(leased, this.#leasing(leased, whenOpen(leased, act(leased))));
  }

  /**
   * Runs the last steps of a request with the workspace held. Throws AnsweredLater if they are not done on return.
   */
  finishLater(workspace: Workspace, steps: Steps<void>): void {
    const { startHeld, answer } = workspace.shared;
    if (startHeld === undefined) {
      complete(steps);
      return;
    }
    const answering = function* (): Steps<void> {
      yield* steps;
      answer(cause, undefined);
    };
    const cause = startHeld(workspace, answering());
    throw new AnsweredLater(cause);
  }

  /** Subtracts from the lookup count of a node; after the hold, if its workspace is held. */
  forget(nodeid: number, nlookup: number): void {
    const node = this.nodes.find(nodeid);
    if (node === undefined || node === this.nodes.root) return;
    const { workspace } = node;
    // A place is kept until it is released, also if it was taken by a workspace that was not used yet.
    if (workspace === undefined || !(workspace.isOpen || workspace.isClosed)) node.nlookup -= nlookup;
    else if (workspace.heldBy !== 0) workspace.pendingForgets.push([nodeid, nlookup]);
    else if (!workspace.isClosed) workspace.tree.forget(node, nlookup);
    else {
      node.nlookup -= nlookup;
      if (node.nlookup <= 0) this.nodes.delete(node);
    }
  }

  *#leasing<T>(leased: Workspace, steps: Steps<T>): Steps<T> {
    let postponed = false;
    let synced = false;
    try {
      const result = yield* steps;
      yield* leased.syncing();
      synced = true;
      return result;
    } catch (error) {
      // Run again when a large copy is complete.
      postponed = error instanceof Postponed;
      throw error;
    } finally {
      if (!postponed) this.#endLease(leased.spec.id, synced);
    }
  }

  /** `synced`: nothing was written since the last sync. */
  #endLease(id: string, synced = false): void {
    const leased = this.#leased.get(id);
    this.#leased.delete(id);
    if (!leased?.isOpen) return;
    for (const node of leased.tree.nodes()) {
      leased.tree.closeFile(node);
      this.nodes.delete(node);
    }
    try {
      if (!synced) complete(leased.syncing());
    } finally {
      leased.close();
    }
  }

  #open(spec: WorkspaceSpec, root?: Node<Workspace>): Workspace {
    this.current.set(spec.id);
    const { nodes, files, bases, ahead, teller, frozen, copies, syncs, frees } = this;
    const shared = {
      ...{ nodes, files, bases, ahead, teller, frozen, copies, syncs, frees },
      notifier: this.#notifier,
      clock: this.#clock,
      memory: this.#memory,
      ...this.#reports,
      background: this.#startSteps ?? ((steps: Steps<unknown>) => void complete(steps)),
      startHeld:
        this.#startSteps &&
        ((workspace: Workspace, steps: Steps<unknown>) => {
          requireNotHeld(workspace);
          this.#startSteps?.(this.holds.holdSame([workspace], steps));
          return workspace.heldBy;
        }),
    };
    return this.#engine.workspace(spec, shared, root);
  }
}
