import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { Actor } from '../field-values.ts';
import type { ControlledFileSystem } from '../fuse/connection/control.ts';
import { complete, type Steps } from '../fuse/connection/steps.ts';
import type { Notifier } from '../fuse/filesystem.ts';
import type { RefusedPath } from './access/refusals.ts';
import { AttachedWorkspaces } from './attached-workspaces.ts';
import { shownFrom } from './base/shown-from.ts';
import { type LongOperations, TRAITS, type WorkspaceOperations } from './calls.ts';
import { hasEffects, isLong, runFileOperation } from './files/index.ts';
import { type Asked, changePages } from './history/changes.ts';
import type { PathFilter } from './history/path-filter.ts';
import { smallContents } from './history/taken-contents.ts';
import { KernelRequests } from './kernel-requests.ts';
import { requireLayered } from './layered-workspace.ts';
import { longOperations } from './long-operations.ts';
import { requireRunning } from './pause.ts';
import { workspaceError } from './workspace-error.ts';
import type { WorkspaceFileSystemOptions } from './workspace-file-system-options.ts';
import type { FileOperation } from './workspace-files.ts';
import type {
  Adding,
  ChangePage,
  ChangeSelection,
  ChangingBase,
  FoundUnchanged,
  Frozen,
  RebaseStage,
  RedactedTexts,
  Unpreserved,
  WorkspaceChange,
  WorkspaceSpec,
} from './workspaces.ts';

type BeginOperation = (...args: readonly unknown[]) => Steps<unknown> | undefined;

/**
 * The file system of all workspaces of one mount: the kernel's requests, and the operations that the main thread calls.
 * `begin` starts a long one as steps; the method of its name completes these at once.
 */
export class WorkspaceFileSystem extends KernelRequests implements ControlledFileSystem, WorkspaceOperations {
  readonly #long: LongOperations;

  constructor(notifier: Notifier, options: WorkspaceFileSystemOptions = {}) {
    super(new AttachedWorkspaces(notifier, options));
    this.#long = longOperations(this.workspaces);
  }

  begin(operation: string, args: readonly unknown[]): Steps<unknown> | undefined {
    const long = this.#long[operation as keyof WorkspaceOperations] as BeginOperation | undefined;
    return long?.(...args);
  }

  control(operation: string, args: readonly unknown[]): unknown {
    const method = this[operation as keyof WorkspaceOperations] as (...args: readonly unknown[]) => unknown;
    return method.apply(this, [...args]);
  }

  toError(thrown: unknown): unknown {
    return workspaceError(thrown);
  }

  subjectOf([first]: readonly unknown[]): string | undefined {
    if (typeof first !== 'string') return (first as Partial<WorkspaceSpec> | undefined)?.id;
    return this.workspaces.find(first) && first;
  }

  answersAtOnce(operation: string, args: readonly unknown[]): boolean {
    const { atOnce } = TRAITS[operation as keyof WorkspaceOperations] ?? {};
    return (atOnce as ((...args: readonly unknown[]) => boolean) | undefined)?.(...args) === true;
  }

  operationEnded(): void {
    this.workspaces.current.clear();
  }

  requestEnded(): void {
    this.workspaces.current.clear();
    this.workspaces.teller.flush();
    this.workspaces.copies.removeUnused();
    this.workspaces.frees.forgetUnused();
  }

  workAhead(): boolean {
    const { ahead, current } = this.workspaces;
    if (ahead.workspace !== undefined) current.set(ahead.workspace);
    const worked = ahead.step();
    if (worked) current.clear();
    return worked;
  }

  attach(spec: WorkspaceSpec): void {
    this.workspaces.attach(spec);
  }

  reserve(place: string, uid: number): void {
    this.workspaces.reserve(place, uid);
  }

  release(place: string): void {
    this.workspaces.release(place);
  }

  detach(id: string): void {
    this.#complete('detach', id);
  }

  setRules(id: string, rules: readonly PermissionRule[]): void {
    this.#complete('setRules', id, rules);
  }

  baseChanging(
    codebaseId: string,
    ...change: [readonly ByteString[], Adding?, (readonly ByteString[])?]
  ): Unpreserved[] {
    return this.#complete('baseChanging', codebaseId, ...change);
  }

  baseChanged(codebaseId: string, paths: readonly ByteString[]): void {
    this.#complete('baseChanged', codebaseId, paths);
  }

  open(id: string): void {
    this.#complete('open', id);
  }

  changes(id: string, after: ByteString, limit: number, asked?: Asked): ChangePage {
    const steps = changePages(requireLayered(this.workspaces.get(id)), after, limit, asked);
    const changes: WorkspaceChange[] = [];
    for (;;) {
      const { done, value } = steps.next();
      if (value !== undefined) for (const change of value.changes) changes.push(change);
      if (done) return { ...value, changes };
    }
  }

  hasEntries(id: string): boolean {
    return this.#complete('hasEntries', id);
  }

  contents(id: string, inodes: readonly number[]): (Uint8Array | undefined)[] {
    return smallContents(requireLayered(this.workspaces.get(id)), inodes);
  }

  redactedTexts(id: string, path: ByteString, as: 'agent' | 'commit'): RedactedTexts {
    return this.#complete('redactedTexts', id, path, as);
  }

  revert(id: string, ...selection: [readonly ByteString[], Omit<ChangeSelection, 'paths'>?]): number {
    return this.#complete('revert', id, ...selection);
  }

  preserveRemoved(spec: WorkspaceSpec, paths: readonly ByteString[]): boolean {
    return this.#complete('preserveRemoved', spec, paths);
  }

  findUnchanged(codebaseId: string, changing: ChangingBase, except?: string): FoundUnchanged {
    return this.#complete('findUnchanged', codebaseId, changing, except);
  }

  revertUnchanged(spec: WorkspaceSpec, changing: ChangingBase, listed: boolean): PathFilter | undefined {
    return this.#complete('revertUnchanged', spec, changing, listed);
  }

  rebase(spec: WorkspaceSpec, stage: RebaseStage): void {
    this.#complete('rebase', spec, stage);
  }

  pause(id: string): void {
    this.workspaces.holds.pause(this.workspaces.get(id));
  }

  resume(id: string): void {
    const workspace = this.workspaces.find(id);
    if (workspace !== undefined) this.workspaces.holds.resume(workspace);
  }

  /** Frees a part of the disk space released by `revert` and `rebase`. Returns whether to call again. */
  trim(id: string): boolean {
    return requireLayered(this.workspaces.get(id)).delta.trim();
  }

  freeze(id: string, limited = false): Frozen {
    return this.#complete('freeze', id, limited);
  }

  requireForkRoom(id: string, checkpoint: string): void {
    this.#complete('requireForkRoom', id, checkpoint);
  }

  setCheckpoints(id: string, layers: readonly string[]): void {
    if (this.workspaces.find(id)) requireLayered(this.workspaces.get(id)).setCheckpoints(layers);
  }

  rollback(id: string, layer: string): void {
    this.#complete('rollback', id, layer);
  }

  compact(id: string, layers: readonly string[], limit?: number): 'more' | 'done' | 'kept' {
    return this.#complete('compact', id, layers, limit);
  }

  layersRemoved(): void {
    this.workspaces.frozen.closeFiles();
  }

  copied(id: number, errno: number): void {
    this.workspaces.copies.done(id, errno);
    this.workspaces.frees.done(id, errno);
    this.workspaces.released(id);
  }

  files(id: string, actor: Actor, operation: FileOperation, args: readonly unknown[]): unknown {
    return isLong(operation) || hasEffects(operation)
      ? this.#complete('files', id, actor, operation, args)
      : runFileOperation(requireRunning(this.workspaces.get(id)), actor, operation, args);
  }

  shownFrom(id: string, path: ByteString): ByteString | undefined {
    return shownFrom(requireLayered(this.workspaces.get(id)), path);
  }

  refusals(id: string): RefusedPath[] {
    return this.workspaces.get(id).refusals.list();
  }

  usage(id: string): { bytes: number; files: number } {
    return this.workspaces.get(id).room.held;
  }

  synced(id: number, errnos: readonly number[] | undefined): void {
    this.workspaces.syncs.done(id, errnos);
  }

  /** Makes every delta outlive a power failure, contents of open files included. */
  toldNames(id: string, directories: readonly number[]): void {
    this.#complete('toldNames', id, directories);
  }

  syncAll(): void {
    this.#complete('syncAll');
  }

  /** Runs a long operation to its end. Returns undefined if there is nothing to do. */
  #complete<O extends keyof WorkspaceOperations>(
    operation: O,
    ...args: Parameters<WorkspaceOperations[O]>
  ): ReturnType<WorkspaceOperations[O]> {
    const begin = this.#long[operation] as BeginOperation | undefined;
    const steps = begin?.(...args) as Steps<ReturnType<WorkspaceOperations[O]>> | undefined;
    return (steps && complete(steps)) as ReturnType<WorkspaceOperations[O]>;
  }
}
