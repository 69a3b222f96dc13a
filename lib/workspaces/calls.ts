import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { Actor } from '../field-values.ts';
import type { Steps } from '../fuse/connection/steps.ts';
import type { RefusedPath } from './access/refusals.ts';
import type { Asked } from './history/changes.ts';
import type { PathFilter } from './history/path-filter.ts';
import type { FileOperation, WorkspaceFiles } from './workspace-files.ts';
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
  WorkspaceSpec,
} from './workspaces.ts';

/**
 * The operations that the main thread calls in the request worker: `WorkspaceFileSystem` implements them, and
 * `WorkspaceCalls` is their form in the main thread. Arguments and answers cross threads by structured clone. A new
 * operation is declared here, with its traits, and implemented there.
 *
 * Common errors: NOT_FOUND for a workspace that is not attached, DATA_LOSS for a damaged delta, RESOURCE_EXHAUSTED for a
 * used-up quota or a full disk, UNAVAILABLE for a read-only disk.
 */
export interface WorkspaceOperations {
  /** Makes the workspace visible below the mount point, with HOME. ALREADY_EXISTS; NOT_FOUND: its place. */
  attach(spec: WorkspaceSpec): void;
  /**
   * Makes two empty directories for one uid, without access to anything, below the mount point. The workspace that is attached at
   * this place, and its HOME, become their contents. ALREADY_EXISTS.
   */
  reserve(place: string, uid: number): void;
  /** Removes a place that no workspace has taken; others are ignored. */
  release(place: string): void;
  /**
   * Detaches the workspace: open files in it fail with ESTALE from then on. The delta stays on disk, synced. Unknown
   * ids are ignored.
   */
  detach(id: string): void;
  /** Sets the rules, which every operation obeys after the return. INVALID_ARGUMENT. */
  setRules(id: string, rules: readonly PermissionRule[]): void;
  /**
   * Call before files of a codebase change on disk (paths relative to its root): open files keep their contents. For the
   * workspace whose commit it is, the base has what the commit adds only when it is rebased. Of `removed`, which were preserved
   * before, no other workspace moves a directory until they are gone, so notifications must not be waited for until then: until
   * the last rebase, or `baseChanged`. Returns the workspaces that may lose some of them.
   */
  baseChanging(
    codebaseId: string,
    paths: readonly ByteString[],
    commit?: Adding | undefined,
    removed?: readonly ByteString[],
  ): Unpreserved[];
  /** Call after files changed, or failed to: every attached sandbox sees the present state on return. */
  baseChanged(codebaseId: string, paths: readonly ByteString[]): void;
  /** Reads the delta, as the first use would. */
  open(id: string): void;
  /**
   * Lists at most `limit` changes after the path `after` ('': from the start), in byte order of their paths; with `asked`
   * only those.
   */
  changes(id: string, after: ByteString, limit: number, asked?: Asked): ChangePage;
  /**
   * Whether the delta has entries of its own; false: it does not differ from the codebase. Entries may also be equal to
   * the codebase's. Does not walk the delta.
   */
  hasEntries(id: string): boolean;
  /**
   * Returns the present contents of small files in the delta (64 KiB each at most), by their inodes (of `version`);
   * undefined for an inode that is no longer a small file.
   */
  contents(id: string, inodes: readonly number[]): (Uint8Array | undefined)[];
  /**
   * Returns a file at a path under a redacting rule as a commit stores it (`isText` of a change), or what the agent is shown
   * of the sandbox's file and the codebase's.
   */
  redactedTexts(id: string, path: ByteString, as: 'agent' | 'commit'): RedactedTexts;
  /**
   * Reverts paths ('': all) and everything below them to the base, also for open files; returns the number of names. What
   * `keeping` leaves out stays, except in a directory that was renamed or replaced, and in a removed one that is scratch.
   * FAILED_PRECONDITION, with nothing changed, for a path inside a directory that is not the base's.
   */
  revert(id: string, paths: readonly ByteString[], keeping?: Omit<ChangeSelection, 'paths'>): number;
  /**
   * Call before files and directories of the codebase are removed: copies up what directories that the sandbox renamed
   * show of them. Returns whether it has any renamed directory. The workspace need not be attached.
   */
  preserveRemoved(spec: WorkspaceSpec, paths: readonly ByteString[]): boolean;
  /**
   * Call before files of a codebase change on disk: the open workspaces on it and, of these, the ones that may have
   * unchanged entries of their own for `revertUnchanged`. `except`: the workspace whose commit it is.
   */
  findUnchanged(codebaseId: string, changing: ChangingBase, except?: string): FoundUnchanged;
  /**
   * Call before files of the codebase change on disk, after pages that programs have mapped were written back: reverts
   * the sandbox's own entries at these paths that are equal to the base. Files above 64 MiB, and what exceeds 256 MiB in
   * all, are not compared and stay. `listed`: returns a filter of all paths at which the sandbox then has entries of its
   * own. The workspace need not be attached.
   */
  revertUnchanged(spec: WorkspaceSpec, changing: ChangingBase, listed: boolean): PathFilter | undefined;
  /**
   * Call after a stage of a commit was applied to the base, and before `baseChanged`: removes the entries from the
   * delta that are still as committed, in one journal record. Open files stay valid. The workspace need not be
   * attached.
   */
  rebase(spec: WorkspaceSpec, stage: RebaseStage): void;
  /**
   * Makes what programs and clients ask for wait until `resume`, the rebase of the last stage of a commit, or `detach`; not
   * the kernel's own reads and writes of pages, for which other system calls may wait. Replaces an earlier pause.
   */
  pause(id: string): void;
  /** Ends a pause. Ignored for a workspace that is not attached or not paused. */
  resume(id: string): void;
  /** Frees a part of the released disk space; true: call again. */
  trim(id: string): boolean;
  /**
   * Freezes the present state as a layer that never changes. A delta may start from it or return to it, for as long as
   * the layers that it needs are there. One point in time for all programs; the previous layer if nothing has changed.
   * `limited`: RESOURCE_EXHAUSTED, with nothing frozen, if the state with the index of the new layer exceeds the quota.
   */
  freeze(id: string, limited?: boolean): Frozen;
  /**
   * Call before a fork is made of a checkpoint (its layer), or of the present state (''). RESOURCE_EXHAUSTED if the
   * layers that the fork would need hold more removed or overwritten contents than the quota.
   */
  requireForkRoom(id: string, checkpoint: string): void;
  /** Sets the frozen layers of the sandbox's checkpoints. Ignored for a workspace that is not attached. */
  setCheckpoints(id: string, layers: readonly string[]): void;
  /**
   * Returns the sandbox to the state of a layer. Open files show it, too; those that it does not have fail with ESTALE.
   * The caller removes layers of the sandbox's own that this leaves unneeded.
   */
  rollback(id: string, layer: string): void;
  /**
   * Compacts layers: moves what the sandbox needs of them into its own layer, at most `limit` contents, if that frees
   * disk space. No other delta, origin or checkpoint may need them until it returns. 'done': the sandbox no longer
   * needs them. 'kept': it would free too little. 'more': call again.
   */
  compact(id: string, layers: readonly string[], limit?: number): 'more' | 'done' | 'kept';
  /** Call after frozen layers were removed on disk: closes their files. */
  layersRemoved(): void;
  /** A background copy or truncation is complete (errno 0) or failed: operations that wait for it are run again. */
  copied(id: number, errno: number): void;
  /** Runs one of `WorkspaceFiles`. */
  files(id: string, actor: Actor, operation: FileOperation, args: readonly unknown[]): unknown;
  /**
   * Returns the codebase path that a path shows, or would show: a different one below a renamed directory. undefined:
   * the path is the sandbox's own or removed by it.
   */
  shownFrom(id: string, path: ByteString): ByteString | undefined;
  /** Call when it is known which directories with new rules, by their inode numbers, are watched: tells what these show and hide. */
  toldNames(id: string, directories: readonly number[]): void;
  /** What the rules refused the programs since the workspace was attached. */
  refusals(id: string): RefusedPath[];
  /** Returns the size of the delta with what its checkpoints retain. */
  usage(id: string): { bytes: number; files: number };
  /** Makes all deltas durable. */
  syncAll(): void;
}

/** Name of an operation. */
export type Operation = keyof WorkspaceOperations;
/** Arguments of an operation. */
export type Arguments<O extends Operation> = Parameters<WorkspaceOperations[O]>;
/** Result of an operation. */
export type Answer<O extends Operation> = ReturnType<WorkspaceOperations[O]>;

/** What the main thread does besides passing on a call. */
interface Traits<O extends Operation> {
  /**
   * Whether pages that programs of the workspace, the first argument, have mapped and changed are written back first: they
   * are part of the state.
   */
  writeBack?: (...args: Arguments<O>) => boolean;
  /**
   * The answer does not wait until the kernel was told of changes. All that is called while a workspace is paused: programs
   * whose requests wait have locks that the notifications of any workspace may wait for.
   */
  atOnce?: (...args: Arguments<O>) => boolean;
  /** The workspace whose disk space is freed afterwards, in the background. */
  trims?: (...args: Arguments<O>) => string;
  /** Whether the operation is to be called again with the same arguments. */
  again?: (answer: Answer<O>) => boolean;
  /** Combines answers that the worker sends in parts. */
  join?: (parts: readonly Answer<O>[]) => Answer<O>;
  /** What it returns without a mount. Absent: the call mounts the file system. */
  unmounted?: { answer: Answer<O> };
  /** The workspace need not be attached, so one that is refused after failures is checked for by its id. */
  unattached?: (...args: Arguments<O>) => string;
}

const always = () => true;
const NOTHING = { answer: undefined };

/** The traits of each operation. */
export const TRAITS: { readonly [O in Operation]: Traits<O> } = {
  attach: {},
  reserve: {},
  release: { unmounted: NOTHING },
  detach: {},
  setRules: {},
  baseChanging: { unmounted: { answer: [] }, atOnce: always },
  baseChanged: { unmounted: NOTHING },
  open: { unmounted: NOTHING },
  changes: {
    writeBack: (_id, after, _limit, asked) => after === '' && asked?.isPaused !== true,
    atOnce: always,
    join: (pages) => ({ more: false, ...pages.at(-1), changes: pages.flatMap(({ changes }) => changes) }),
  },
  hasEntries: { writeBack: always },
  contents: { atOnce: always },
  redactedTexts: { atOnce: always },
  revert: { writeBack: always, trims: (id) => id },
  preserveRemoved: { unattached: ({ id }) => id, atOnce: always },
  findUnchanged: { unmounted: { answer: { open: [], candidates: [] } } },
  revertUnchanged: { trims: ({ id }) => id, unattached: ({ id }) => id },
  rebase: {
    trims: ({ id }) => id,
    unattached: ({ id }) => id,
    // The pause goes on until the last one.
    atOnce: (_spec, { isLast }) => isLast !== true,
  },
  pause: { atOnce: always },
  resume: { unmounted: NOTHING, atOnce: always },
  trim: {},
  freeze: { writeBack: always },
  requireForkRoom: {},
  setCheckpoints: { unmounted: NOTHING },
  // Pages that are written back later would overwrite the restored contents.
  rollback: { writeBack: always },
  compact: { again: (outcome) => outcome === 'more' },
  layersRemoved: { unmounted: NOTHING },
  copied: {},
  files: {},
  shownFrom: {},
  toldNames: { atOnce: always, unmounted: NOTHING },
  refusals: { atOnce: always, unmounted: { answer: [] } },
  usage: {},
  syncAll: {},
};

/** Calls an operation by its name. */
export type Call = <O extends Operation>(operation: O, args: Arguments<O>) => Promise<Answer<O>>;

/** For the file system's own threads, or with another form in the main thread. */
const INTERNAL = [
  'attach',
  'reserve',
  'detach',
  'trim',
  'copied',
  'files',
  'syncAll',
  'toldNames',
] as const satisfies readonly Operation[];
type Shared = Exclude<Operation, (typeof INTERNAL)[number]>;

/** The operations as the main thread calls them: asynchronous, with the same arguments and answers. */
export type WorkspaceCalls = {
  [O in Shared]: (...args: Arguments<O>) => Promise<Answer<O>>;
} & {
  /** Runs one of `WorkspaceFiles` in the worker. */
  files<O extends FileOperation>(
    id: string,
    actor: Actor,
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>>;
};

/** One method an operation, each a call of it. */
export function callsThrough(call: Call): WorkspaceCalls {
  const internal: readonly string[] = INTERNAL;
  const operations = (Object.keys(TRAITS) as Operation[]).filter((operation) => !internal.includes(operation));
  const calls = operations.map((operation) => [operation, (...args: Arguments<Operation>) => call(operation, args)]);
  const files = (id: string, actor: Actor, operation: FileOperation, ...args: readonly unknown[]) =>
    call('files', [id, actor, operation, args]);
  return { ...Object.fromEntries(calls), files };
}

/**
 * The operations that may take long, as steps, between which other requests are served. The workspaces that one is about
 * are held until its steps are done. undefined: the method of that name does it at once.
 */
export type LongOperations = {
  readonly [O in keyof WorkspaceOperations]?: (
    ...args: Parameters<WorkspaceOperations[O]>
  ) => Steps<ReturnType<WorkspaceOperations[O]>> | undefined;
};
