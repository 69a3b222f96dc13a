import { constants } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { type ByteString, fromText, toText } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import { ServiceError } from '../errors.ts';
import type { Actor } from '../field-values.ts';
import type { ControlledFileSystem } from '../fuse/connection/control.ts';
import { Counted, complete, type Steps } from '../fuse/connection/steps.ts';
import {
  type Attr,
  type Caller,
  type EmitDirent,
  type Entry,
  type Notifier,
  Postponed,
  type SetAttr,
  type StatFs,
} from '../fuse/filesystem.ts';
import { hostFault } from '../host-error.ts';
import { EACCES, EDQUOT, ENOSPC, EPERM, Errno, hostErrno } from '../linux/errno.ts';
import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFMT, S_IFREG } from '../linux/mode.ts';
import { AGENT, type AgentAccess } from './access/access.ts';
import { setRules } from './access/rule-changes.ts';
import { baseChanged, baseChanging } from './base/base-changes.ts';
import { BaseTrees } from './base/base-trees.ts';
import { shownFrom } from './base/shown-from.ts';
import type { WorkspaceOperations } from './calls.ts';
import { Clock } from './clock.ts';
import { CurrentWorkspace } from './current-workspace.ts';
import type { BackgroundCopy } from './delta/contents/background-copy.ts';
import { LargeCopies } from './delta/contents/large-copies.ts';
import { Damage } from './delta/damage.ts';
import { makeDeltaDirectory } from './delta/delta-directory.ts';
import { FrozenLayers } from './delta/layers/frozen-layers.ts';
import { fileOperationSteps, isLong, runFileOperation } from './files/index.ts';
import { changePages, smallContents } from './history/changes.ts';
import { requireRoom } from './history/checkpoint-room.ts';
import { requireForkRoom } from './history/fork-room.ts';
import { ownPathFilter } from './history/own-entries.ts';
import type { PathFilter } from './history/path-filter.ts';
import { preserveRemoved } from './history/preserve-removed.ts';
import { rebase } from './history/rebase.ts';
import { renamedDirectories } from './history/renamed-directories.ts';
import { revert } from './history/revert.ts';
import { mayRevertUnchanged, revertUnchanged } from './history/revert-unchanged.ts';
import { rollback } from './history/rollback.ts';
import { MemoryBudget } from './memory-budget.ts';
import { HostFiles } from './nodes/host-files.ts';
import type { Node } from './nodes/node.ts';
import { NodeTable, ROOT_NODEID } from './nodes/node-table.ts';
import { getattr, setattr } from './operations/attributes.ts';
import { fsync, read, readlink, write } from './operations/contents.ts';
import { lookup, readdir } from './operations/directory.ts';
import { createNode, entryFor, link, symlink } from './operations/entries.ts';
import { readRoot, rootAttr } from './operations/mount-root.ts';
import { openExisting } from './operations/open-existing.ts';
import { rmdir, unlink } from './operations/removal.ts';
import { rename } from './operations/rename.ts';
import { statfs } from './operations/statfs.ts';
import { Workspace } from './workspace.ts';
import type { FileOperation } from './workspace-files.ts';
import type {
  ChangingBase,
  DamageReport,
  FoundUnchanged,
  Frozen,
  OwnDirectory,
  RebaseStage,
  WorkspaceChange,
  WorkspaceSpec,
} from './workspaces.ts';

type BeginOperation = (...args: readonly unknown[]) => Steps<unknown> | undefined;
type LongOperations = {
  readonly [O in keyof WorkspaceOperations]?: (
    ...args: Parameters<WorkspaceOperations[O]>
  ) => Steps<ReturnType<WorkspaceOperations[O]>> | undefined;
};

/** Nodes released in one step. */
const AT_ONCE = 64;
/** Contents that one call of `compact` moves while the sandbox waits: some tenths of a second. */
const MOVED_AT_ONCE = 2000;

/** Options of `WorkspaceFileSystem`. */
export interface WorkspaceFileSystemOptions {
  /** Limit of open host files, pinned ones excluded; default 256. */
  maxOpenFiles?: number;
  /** Limit of open codebase directories; default 256. */
  maxOpenDirectories?: number;
  /**
   * Starts a copy of a large host file in another thread, which calls `copied` at its end. Absent: files are copied at
   * once.
   */
  startCopy?: (copy: BackgroundCopy) => void;
  /** Receives the workspace of each operation. */
  current?: CurrentWorkspace;
  /** Runs long work between requests. Absent: it runs at once. */
  startSteps?: (steps: Steps<unknown>) => void;
  /** Called when operations that are Postponed with this cause may be run again. */
  released?: (cause: number) => void;
  /** Memory limit in bytes for all workspaces; default: half of the thread's heap limit. */
  maxMemory?: number;
  /** Called once for each damaged file, and once for each damaged workspace. */
  damaged?: (report: DamageReport) => void;
}

/**
 * The file system of all workspaces of one mount. The root has a directory for each, by its id: for its own uid and, by
 * name only (for bind mounts), for root. See `FileSystem` for threads and errors.
 */
export class WorkspaceFileSystem implements ControlledFileSystem, WorkspaceOperations {
  readonly #workspaces = new Map<string, Workspace>();
  /** Leases: workspaces that are not attached and are open for the duration of one call. */
  readonly #leased = new Map<string, Workspace>();
  readonly #nodes = new NodeTable<Workspace>();
  readonly #files: HostFiles;
  readonly #bases: BaseTrees;
  readonly #notifier: Notifier;
  readonly #clock = new Clock();
  readonly #frozen = new FrozenLayers();
  readonly #copies: LargeCopies;
  readonly #current: CurrentWorkspace;
  readonly #memory: MemoryBudget;
  readonly #damaged: (report: DamageReport) => void;
  readonly #startSteps: ((steps: Steps<unknown>) => void) | undefined;
  readonly #released: (cause: number) => void;
  /** The access of every kernel request. By its type it cannot be the owner's. */
  readonly #access: AgentAccess = AGENT;
  /** Causes of holds are negative numbers; those of copies are positive. */
  #lastHold = 0;

  constructor(notifier: Notifier, options: WorkspaceFileSystemOptions = {}) {
    this.#notifier = notifier;
    this.#damaged = options.damaged ?? (() => undefined);
    this.#copies = new LargeCopies(options.startCopy);
    this.#current = options.current ?? new CurrentWorkspace();
    const maxMemory = options.maxMemory ?? getHeapStatistics().heap_size_limit / 2;
    this.#memory = new MemoryBudget(maxMemory, () => this.#frozen.memory);
    this.#startSteps = options.startSteps;
    this.#released = options.released ?? (() => undefined);
    this.#files = new HostFiles(options.maxOpenFiles ?? 256);
    this.#bases = new BaseTrees(options.maxOpenDirectories ?? 256);
  }

  /**
   * Attaches a workspace. Throws ALREADY_EXISTS. Delta and rules are read at the first use, which fails if they are
   * invalid.
   */
  attach(spec: WorkspaceSpec): void {
    if (this.#workspaces.has(spec.id))
      throw new ServiceError('ALREADY_EXISTS', `workspace ${spec.id} is attached already`);
    const visited = this.#leased.get(spec.id);
    if (visited !== undefined) requireNotHeld(visited);
    makeDeltaDirectory(spec.delta);
    this.#endLease(spec.id);
    this.#workspaces.set(spec.id, this.#make(spec));
    this.#notifier.invalEntry(ROOT_NODEID, fromText(spec.id));
  }

  #make(spec: WorkspaceSpec): Workspace {
    this.#current.set(spec.id);
    const shared = {
      nodes: this.#nodes,
      files: this.#files,
      bases: this.#bases,
      notifier: this.#notifier,
      clock: this.#clock,
      frozen: this.#frozen,
      copies: this.#copies,
      memory: this.#memory,
      damaged: this.#damaged,
      background: this.#startSteps ?? ((steps: Steps<unknown>) => void complete(steps)),
      startHeld:
        this.#startSteps &&
        ((workspace: Workspace, steps: Steps<unknown>) => {
          requireNotHeld(workspace);
          this.#startSteps?.(this.#holdSame([workspace], steps));
          return workspace.heldBy;
        }),
    };
    return new Workspace(spec, shared);
  }

  /** As steps, during which the workspaces are held; undefined: done by the method of that name. */
  readonly #long: LongOperations = {
    changes: (id, after, limit) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, changePages(workspace, after, limit));
    },
    detach: (id) => {
      const workspace = this.#workspaces.get(id);
      return workspace && this.#hold(workspace, this.#detaching(workspace));
    },
    setRules: (id, rules) => {
      const workspace = this.#get(id);
      return this.#hold(workspace, setRules(workspace, rules));
    },
    baseChanging: (codebaseId, paths) => this.#holdBaseChange('baseChanging', codebaseId, paths),
    baseChanged: (codebaseId, paths) => this.#holdBaseChange('baseChanged', codebaseId, paths),
    revert: (id, paths) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, revert(workspace, paths));
    },
    rebase: (spec, settlement) => this.#lease(spec, (workspace) => stepsOnHost(rebase(workspace, settlement))),
    preserveRemoved: (spec, paths) => this.#lease(spec, (workspace) => preserveRemoved(workspace, paths)),
    findUnchanged: (codebaseId, changing, except) => {
      const workspaces = this.#openOf(codebaseId, except);
      // Programs of sandboxes without changes need not wait.
      const changed = workspaces.filter(({ delta }) => delta.inodes > 0);
      for (const workspace of changed) requireNotHeld(workspace);
      return this.#holdSame(changed, this.#findUnchanged(workspaces, changing));
    },
    revertUnchanged: (spec, changing, listed) =>
      this.#lease(spec, (workspace) => stepsOnHost(revertingUnchanged(workspace, changing, listed))),
    renamed: (id) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, renamedDirectories(workspace));
    },
    files: (id, actor, operation, args) => {
      if (!isLong(operation)) return undefined;
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, fileOperationSteps(workspace, actor, operation, args));
    },
    freeze: (id, limited = false) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, this.#freezing(workspace, limited));
    },
    requireForkRoom: (id, checkpoint) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, requireForkRoom(workspace, checkpoint));
    },
    compact: (id, layers, limit = MOVED_AT_ONCE) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, this.#compacting(workspace, layers, limit));
    },
    rollback: (id, layer) => {
      const workspace = this.#get(id);
      return this.#holdOpen(workspace, stepsOnHost(rollback(workspace, layer)));
    },
  };

  begin(operation: string, args: readonly unknown[]): Steps<unknown> | undefined {
    const long = this.#long[operation as keyof WorkspaceOperations] as BeginOperation | undefined;
    return long?.(...args);
  }

  control(operation: string, args: readonly unknown[]): unknown {
    const method = this[operation as keyof WorkspaceOperations] as (...args: readonly unknown[]) => unknown;
    return method.apply(this, [...args]);
  }

  toError(thrown: unknown): unknown {
    if (thrown instanceof Damage) return new ServiceError('DATA_LOSS', thrown.message);
    if (thrown === EDQUOT) return new ServiceError('RESOURCE_EXHAUSTED', 'the quota of the sandbox is used up');
    return hostFault(thrown, 'the files of the sandbox could not be read or written');
  }

  operationEnded(): void {
    this.#current.clear();
  }

  requestEnded(): void {
    this.#current.clear();
    this.#copies.removeUnused();
  }

  #hold<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    requireNotHeld(workspace);
    return this.#holdAll([workspace], steps);
  }

  /** As `#hold`, after the workspace was opened. */
  #holdOpen<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    return this.#hold(workspace, whenOpen(workspace, steps));
  }

  /** Holds workspaces: every request for them is Postponed until the steps are done. */
  #holdAll<T>(workspaces: readonly Workspace[], steps: Steps<T>): Steps<T> {
    for (const workspace of workspaces) workspace.generation++;
    return this.#holdSame(workspaces, steps);
  }

  /** As `#holdAll`, for steps that change no names and no rules: cached results stay valid. */
  #holdSame<T>(workspaces: readonly Workspace[], steps: Steps<T>): Steps<T> {
    const cause = --this.#lastHold;
    for (const workspace of workspaces) workspace.heldBy = cause;
    return this.#holding(workspaces, cause, steps);
  }

  *#holding<T>(workspaces: readonly Workspace[], cause: number, steps: Steps<T>): Steps<T> {
    try {
      for (;;) {
        // Steps for several workspaces record the current one themselves.
        if (workspaces.length === 1) this.#current.set(workspaces[0]!.spec.id);
        const { done, value } = steps.next();
        if (done) return value;
        yield value;
      }
    } finally {
      for (const workspace of workspaces) {
        workspace.heldBy = 0;
        for (const [nodeid, nlookup] of workspace.pendingForgets.splice(0)) this.forget(nodeid, nlookup);
      }
      this.#released(cause);
    }
  }

  #holdBaseChange(
    operation: 'baseChanging' | 'baseChanged',
    codebaseId: string,
    paths: readonly ByteString[],
  ): Steps<void> {
    const workspaces = [...this.#ofCodebase(codebaseId)];
    for (const workspace of workspaces) requireNotHeld(workspace);
    return this.#holdAll(workspaces, this.#baseChange(operation, codebaseId, workspaces, paths));
  }

  *#baseChange(
    operation: 'baseChanging' | 'baseChanged',
    codebaseId: string,
    workspaces: readonly Workspace[],
    paths: readonly ByteString[],
  ): Steps<void> {
    if (operation === 'baseChanging') this.#bases.beginChange(codebaseId, paths);
    else this.#bases.endChange(codebaseId, paths);
    for (const workspace of workspaces) {
      yield* this.#for(
        workspace,
        operation === 'baseChanging' ? baseChanging(workspace, paths) : baseChanged(workspace, paths),
      );
    }
  }

  *#findUnchanged(workspaces: readonly Workspace[], changing: ChangingBase): Steps<FoundUnchanged> {
    const candidates: string[] = [];
    for (const workspace of workspaces) {
      if (yield* this.#for(workspace, mayRevertUnchanged(workspace, changing))) candidates.push(workspace.spec.id);
    }
    return { open: workspaces.map(({ spec }) => spec.id), candidates };
  }

  /** The steps of one workspace among several. */
  *#for<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
    for (;;) {
      this.#current.set(workspace.spec.id);
      const { done, value } = steps.next();
      if (done) return value;
      yield;
    }
  }

  /** Runs steps on a workspace that need not be attached; one that is not is opened for the duration of the steps. */
  #lease<T>(spec: WorkspaceSpec, act: (workspace: Workspace) => Steps<T>): Steps<T> {
    const attached = this.#workspaces.get(spec.id);
    if (attached !== undefined) return this.#holdOpen(attached, act(attached));
    const visited = this.#leased.get(spec.id) ?? this.#make(spec);
    requireNotHeld(visited);
    this.#leased.set(spec.id, visited);
    return this.#hold(visited, this.#leasing(visited, whenOpen(visited, act(visited))));
  }

  *#leasing<T>(visited: Workspace, steps: Steps<T>): Steps<T> {
    let postponed = false;
    try {
      return yield* steps;
    } catch (error) {
      // Run again when a large copy is complete.
      postponed = error instanceof Postponed;
      throw error;
    } finally {
      if (!postponed) this.#endLease(visited.spec.id);
    }
  }

  /**
   * Detaches a workspace and syncs its delta. Open files fail with ESTALE from then on. Does nothing for an unknown id.
   */
  detach(id: string): void {
    const workspace = this.#workspaces.get(id);
    if (workspace === undefined) return;
    requireNotHeld(workspace);
    complete(this.#detaching(workspace));
  }

  *#detaching(workspace: Workspace): Steps<void> {
    const { id } = workspace.spec;
    this.#current.set(id);
    if (workspace.isOpen) {
      const counted = new Counted(AT_ONCE);
      for (const node of workspace.tree.nodes()) {
        this.#notifier.invalInode(node.id);
        this.#files.close(node);
        yield* counted.one();
      }
      workspace.handles.closeAll(workspace.tree);
      workspace.tree.releaseOrphans();
    }
    this.#workspaces.delete(id);
    this.#notifier.invalEntry(ROOT_NODEID, fromText(id));
    try {
      workspace.close();
    } finally {
      if (this.#workspaces.size === 0) this.#frozen.closeFiles();
    }
  }

  setRules(id: string, rules: readonly PermissionRule[]): void {
    complete(setRules(this.#get(id), rules));
  }

  baseChanging(codebaseId: string, paths: readonly ByteString[]): void {
    complete(this.#baseChange('baseChanging', codebaseId, [...this.#ofCodebase(codebaseId)], paths));
  }

  baseChanged(codebaseId: string, paths: readonly ByteString[]): void {
    complete(this.#baseChange('baseChanged', codebaseId, [...this.#ofCodebase(codebaseId)], paths));
  }

  changes(id: string, after: ByteString, limit: number): { changes: WorkspaceChange[]; more: boolean } {
    const steps = changePages(this.#get(id), after, limit);
    const changes: WorkspaceChange[] = [];
    for (;;) {
      const { done, value } = steps.next();
      if (value !== undefined) for (const change of value.changes) changes.push(change);
      if (done) return { changes, more: value.more };
    }
  }

  contents(id: string, inodes: readonly number[]): (Uint8Array | undefined)[] {
    return smallContents(this.#get(id), inodes);
  }

  revert(id: string, paths: readonly ByteString[]): number {
    return complete(revert(this.#get(id), paths));
  }

  renamed(id: string): OwnDirectory[] {
    return complete(renamedDirectories(this.#get(id)));
  }

  preserveRemoved(spec: WorkspaceSpec, paths: readonly ByteString[]): boolean {
    return complete(this.#lease(spec, (workspace) => preserveRemoved(workspace, paths)));
  }

  findUnchanged(codebaseId: string, changing: ChangingBase, except?: string): FoundUnchanged {
    return complete(this.#findUnchanged(this.#openOf(codebaseId, except), changing));
  }

  revertUnchanged(spec: WorkspaceSpec, changing: ChangingBase, listed: boolean): PathFilter | undefined {
    return complete(this.#lease(spec, (workspace) => stepsOnHost(revertingUnchanged(workspace, changing, listed))));
  }

  #endLease(id: string): void {
    const visited = this.#leased.get(id);
    this.#leased.delete(id);
    if (!visited?.isOpen) return;
    for (const node of visited.tree.nodes()) {
      this.#files.close(node);
      this.#nodes.delete(node);
    }
    visited.close();
  }

  rebase(spec: WorkspaceSpec, settlement: RebaseStage): void {
    complete(this.#lease(spec, (workspace) => stepsOnHost(rebase(workspace, settlement))));
  }

  /** Frees a part of the disk space released by `revert` and `rebase`. Returns whether to call again. */
  trim(id: string): boolean {
    return this.#get(id).delta.trim();
  }

  freeze(id: string, limited = false): Frozen {
    return complete(this.#freezing(this.#get(id), limited));
  }

  *#freezing(workspace: Workspace, limited: boolean): Steps<Frozen> {
    const { delta } = workspace;
    if (limited) requireRoom(workspace);
    const layer = yield* stepsOnHost(delta.freezing());
    return { layer, files: delta.inodes, bytes: delta.bytes };
  }

  requireForkRoom(id: string, checkpoint: string): void {
    complete(requireForkRoom(this.#get(id), checkpoint));
  }

  setCheckpoints(id: string, layers: readonly string[]): void {
    if (this.#workspaces.has(id)) this.#get(id).setCheckpoints(layers);
  }

  rollback(id: string, layer: string): void {
    const workspace = this.#get(id);
    onHost(() => complete(rollback(workspace, layer)));
  }

  compact(id: string, layers: readonly string[], limit = MOVED_AT_ONCE): 'more' | 'done' | 'kept' {
    return complete(this.#compacting(this.#get(id), layers, limit));
  }

  *#compacting({ delta, tree }: Workspace, layers: readonly string[], limit: number): Steps<'more' | 'done' | 'kept'> {
    return yield* delta.compactingLayers(layers, limit, (inode) => {
      const node = tree.nodeOf(inode);
      if (node !== undefined) this.#files.close(node);
    });
  }

  layersRemoved(): void {
    this.#frozen.closeFiles();
  }

  copied(id: number, errno: number): void {
    this.#copies.done(id, errno);
    this.#released(id);
  }

  files(id: string, actor: Actor, operation: FileOperation, args: readonly unknown[]): unknown {
    const workspace = this.#get(id);
    return isLong(operation)
      ? complete(fileOperationSteps(workspace, actor, operation, args))
      : runFileOperation(workspace, actor, operation, args);
  }

  shownFrom(id: string, path: ByteString): ByteString | undefined {
    return shownFrom(this.#get(id), path);
  }

  usage(id: string): { bytes: number; files: number } {
    const { delta } = this.#get(id);
    return { bytes: delta.bytes + delta.retained.bytes, files: delta.inodes + delta.retained.files };
  }

  /** Makes every delta outlive a power failure, contents of open files included. */
  syncAll(): void {
    // A long operation on any of them is finished first.
    for (const workspace of this.#workspaces.values()) requireNotHeld(workspace);
    for (const [id, workspace] of this.#workspaces) {
      if (!workspace.isOpen) continue;
      this.#current.set(id);
      workspace.sync();
    }
  }

  lookup(caller: Caller, parent: number, name: ByteString): Entry | undefined {
    if (parent !== ROOT_NODEID) {
      const node = this.#nodeFor(caller, parent);
      return lookup(node.workspace!, this.#access, node, name);
    }
    const workspace = this.#workspaces.get(toText(name));
    if (caller.uid !== 0 && !isOwner(caller, workspace)) throw EACCES;
    if (workspace === undefined) return undefined;
    requireNotHeld(workspace);
    this.#current.set(workspace.spec.id);
    return entryFor(workspace, this.#access, workspace.tree.root);
  }

  forget(nodeid: number, nlookup: number): void {
    const node = this.#nodes.find(nodeid);
    if (node?.workspace === undefined) return;
    if (node.workspace.heldBy !== 0) node.workspace.pendingForgets.push([nodeid, nlookup]);
    else if (!node.workspace.isClosed) node.workspace.tree.forget(node, nlookup);
    else {
      node.nlookup -= nlookup;
      if (node.nlookup <= 0) this.#nodes.delete(node);
    }
  }

  getattr(caller: Caller, nodeid: number): Attr {
    if (nodeid === ROOT_NODEID) return rootAttr();
    const node = this.#nodes.get(nodeid);
    const workspace = node.workspace!;
    requireNotHeld(workspace);
    this.#current.set(workspace.spec.id);
    // A container daemon bind-mounts the workspace's directory as root.
    if (caller.uid !== 0 || node !== workspace.tree.root) requireOwner(caller, workspace);
    return getattr(workspace, this.#access, node);
  }

  setattr(caller: Caller, nodeid: number, changes: SetAttr): Attr {
    const node = this.#nodeFor(caller, nodeid);
    return setattr(node.workspace!, this.#access, node, changes);
  }

  readlink(caller: Caller, nodeid: number): Buffer {
    const node = this.#nodeFor(caller, nodeid);
    return readlink(node.workspace!, this.#access, node);
  }

  create(caller: Caller, parent: number, name: ByteString, mode: number, flags: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    const known = openExisting(dir.workspace!, this.#access, dir, name, flags);
    return known ?? createNode(dir.workspace!, this.#access, caller, dir, name, S_IFREG | (mode & 0o7777));
  }

  mknod(caller: Caller, parent: number, name: ByteString, mode: number, rdev: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    const type = mode & S_IFMT || S_IFREG;
    // The mount has the option nodev, so devices do not work; sandboxes still must not create any.
    if ((type === S_IFCHR || type === S_IFBLK) && !dir.workspace!.spec.anyUid) throw EPERM;
    return createNode(dir.workspace!, this.#access, caller, dir, name, type | (mode & 0o7777), { rdev });
  }

  mkdir(caller: Caller, parent: number, name: ByteString, mode: number): Entry {
    const dir = this.#nodeFor(caller, parent);
    return createNode(dir.workspace!, this.#access, caller, dir, name, S_IFDIR | (mode & 0o7777));
  }

  symlink(caller: Caller, parent: number, name: ByteString, target: Buffer): Entry {
    const dir = this.#nodeFor(caller, parent);
    return symlink(dir.workspace!, this.#access, caller, dir, name, target);
  }

  link(caller: Caller, nodeid: number, newparent: number, newname: ByteString): Entry {
    const node = this.#nodeFor(caller, nodeid);
    const dir = this.#nodeFor(caller, newparent);
    if (node.workspace !== dir.workspace) throw EACCES;
    return link(dir.workspace!, this.#access, node, dir, newname);
  }

  unlink(caller: Caller, parent: number, name: ByteString): void {
    const dir = this.#nodeFor(caller, parent);
    unlink(dir.workspace!, this.#access, dir, name);
  }

  rmdir(caller: Caller, parent: number, name: ByteString): void {
    const dir = this.#nodeFor(caller, parent);
    rmdir(dir.workspace!, this.#access, dir, name);
  }

  rename(
    caller: Caller,
    parent: number,
    name: ByteString,
    newparent: number,
    newname: ByteString,
    flags: number,
  ): void {
    const from = this.#nodeFor(caller, parent);
    const to = this.#nodeFor(caller, newparent);
    // Nothing may be moved between sandboxes.
    if (from.workspace !== to.workspace) throw EACCES;
    rename(from.workspace!, this.#access, from, name, to, newname, flags);
  }

  read(caller: Caller, nodeid: number, offset: number, into: Buffer): number {
    const node = this.#fileFor(caller, nodeid);
    return read(node.workspace!, this.#access, node, offset, into);
  }

  write(caller: Caller, nodeid: number, offset: number, data: Buffer, killSuidgid: boolean): number {
    const node = this.#fileFor(caller, nodeid);
    return write(node.workspace!, this.#access, node, offset, data, killSuidgid);
  }

  fsync(caller: Caller, nodeid: number, datasync: boolean): void {
    const node = this.#fileFor(caller, nodeid);
    fsync(node.workspace!, node, datasync);
  }

  statfs(caller: Caller, nodeid: number): StatFs {
    if (nodeid === ROOT_NODEID) return statfs(undefined);
    return statfs(this.#nodeFor(caller, nodeid).workspace);
  }

  readdir(caller: Caller, nodeid: number, cookie: number, plus: boolean, emit: EmitDirent): void {
    if (nodeid === ROOT_NODEID) {
      readRoot(caller, cookie, emit);
      return;
    }
    const node = this.#nodeFor(caller, nodeid);
    readdir(node.workspace!, this.#access, node, cookie, plus, emit);
  }

  /**
   * Returns a node of a workspace for its user. Throws EACCES for the mount's root, in which nothing can be created,
   * and for other users.
   */
  #nodeFor(caller: Caller, nodeid: number): Node<Workspace> {
    const node = this.#nodes.get(nodeid);
    if (node.workspace === undefined) throw EACCES;
    requireOwner(caller, node.workspace);
    requireNotHeld(node.workspace);
    this.#current.set(node.workspace.spec.id);
    return node;
  }

  /** As `#nodeFor`, and also for the kernel itself: read-ahead and write-back of pages have uid 0 and no process. */
  #fileFor(caller: Caller, nodeid: number): Node<Workspace> {
    return caller.uid === 0 && caller.pid === 0 ? this.#kernelNode(nodeid) : this.#nodeFor(caller, nodeid);
  }

  #kernelNode(nodeid: number): Node<Workspace> {
    const node = this.#nodes.get(nodeid);
    if (node.workspace === undefined) throw EACCES;
    requireNotHeld(node.workspace);
    this.#current.set(node.workspace.spec.id);
    return node;
  }

  #get(id: string): Workspace {
    const workspace = this.#workspaces.get(id);
    if (workspace === undefined) throw new ServiceError('NOT_FOUND', `workspace ${id} is not attached`);
    requireNotHeld(workspace);
    this.#current.set(id);
    return workspace;
  }

  #openOf(codebaseId: string, except?: string): Workspace[] {
    return [...this.#ofCodebase(codebaseId)].filter(({ isOpen, spec }) => isOpen && spec.id !== except);
  }

  *#ofCodebase(codebaseId: string): Generator<Workspace> {
    for (const [id, workspace] of this.#workspaces) {
      if (workspace.spec.codebaseId !== codebaseId) continue;
      this.#current.set(id);
      yield workspace;
    }
  }
}

function* revertingUnchanged(
  workspace: Workspace,
  changing: ChangingBase,
  listed: boolean,
): Steps<PathFilter | undefined> {
  yield* revertUnchanged(workspace, changing);
  return listed ? yield* ownPathFilter(workspace) : undefined;
}

function* whenOpen<T>(workspace: Workspace, steps: Steps<T>): Steps<T> {
  yield* workspace.opening();
  return yield* steps;
}

/** As `onHost`. */
function* stepsOnHost<T>(steps: Steps<T>): Steps<T> {
  for (;;) {
    const { done, value } = onHost(() => steps.next());
    if (done) return value;
    yield value;
  }
}

/** Converts errors of a full or read-only disk, at which nothing has changed, to ServiceErrors. */
function onHost<T>(act: () => T): T {
  try {
    return act();
  } catch (thrown) {
    const error = hostErrno(thrown);
    if (error instanceof Errno && error.errno === constants.errno.EROFS) {
      throw new ServiceError('UNAVAILABLE', 'the disk with the changes of sandboxes is read-only', [], {
        cause: thrown,
      });
    }
    if (!(error instanceof Errno) || ![ENOSPC.errno, EDQUOT.errno].includes(error.errno)) throw thrown;
    throw new ServiceError('RESOURCE_EXHAUSTED', 'the disk with the changes of sandboxes is full', [], {
      cause: thrown,
    });
  }
}

/** Throws Postponed while a long operation runs on the workspace. */
function requireNotHeld(workspace: Workspace): void {
  if (workspace.heldBy !== 0) throw new Postponed(workspace.heldBy);
}

function isOwner(caller: Caller, workspace: Workspace | undefined): boolean {
  return workspace !== undefined && (caller.uid === workspace.spec.uid || workspace.spec.anyUid === true);
}

function requireOwner(caller: Caller, workspace: Workspace): void {
  if (!isOwner(caller, workspace)) throw EACCES;
}
