import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { Actor } from '../field-values.ts';
import type { HostFile } from '../host-tree/host-file.ts';
import type { Time } from '../linux/time.ts';
import type { FileOperation, WorkspaceFiles } from './workspace-files.ts';

/** One sandbox's view of a codebase: base, delta and rules. */
export interface WorkspaceSpec {
  id: string;
  codebaseId: string;
  /** Host directory of the codebase's files; only read. */
  base: string;
  /** Host directory of this sandbox's changes; created when absent, kept by `detach`. */
  delta: string;
  /** Host directory of what deltas share; one for all of them. Absent: this delta shares nothing, and is in `delta`. */
  layers?: string;
  /** The frozen layer, as `freeze` answered it, that a delta starts from when there is none yet. */
  origin?: string;
  /** Frozen layers, as `freeze` answered them, that are checkpoints of it: what they keep counts for its quota. */
  checkpoints?: readonly string[];
  /** The one host uid (and gid of the same number) served; every other gets EACCES. */
  uid: number;
  rules: readonly PermissionRule[];
  /** Quota of the delta and of what its checkpoints keep; 0: none. */
  maxBytes: number;
  maxFiles: number;
  /** Bytes of the server's memory for its names and inodes, and for what the kernel knows of it; 0 or absent: no limit. */
  maxIndexBytes?: number;
  /** Of shared memory: its first element is counted up by whatever the sandbox changes, before the sandbox is told. */
  changeCount?: Int32Array;
  /**
   * Serve every uid and show owners and modes as they are stored: for suites that change their uid, run by a developer.
   * Never set by the service.
   */
  anyUid?: boolean;
}

/** Something of a workspace is not on the disk as it was written there. */
export interface DamageReport {
  id: string;
  /** One sentence without its end. */
  message: string;
  /** The one file that cannot be read; undefined: nothing of the workspace can be. */
  path?: ByteString;
}

export interface Frozen {
  layer: string;
  files: number;
  /** Apparent size of all contents. */
  bytes: number;
}

/** One side of a change. */
export interface ChangeSide {
  /** With the type bits; permission bits only. */
  mode: number;
  /** 0 of a directory; a symlink's is the length of its target. */
  size: number;
  mtime: Time;
}

/** A path at which a sandbox has something else than its codebase. Paths are bytes, from the root. */
export interface WorkspaceChange {
  path: ByteString;
  kind: 'added' | 'modified' | 'deleted';
  /** False: only the permission bits are others. */
  contentChanged: boolean;
  /** Added, modified. */
  now?: ChangeSide & {
    /** Symlink. */
    target?: ByteString;
    /** File: the host's file with its contents, which may still be written to. */
    hostFile?: HostFile;
    /** File without one: `contents` has it. */
    small?: boolean;
    /** File or symlink of the sandbox's own: another one when its contents are others. Of one attachment only. */
    version?: Version;
  };
  /** Modified, deleted: what the codebase has. */
  base?: ChangeSide;
  /** Added: where the codebase has it, as far as that is known. */
  renamedFrom?: ByteString;
  /** File or symlink: the path at which the codebase had it when the sandbox first changed it, if that is another one. */
  movedFrom?: ByteString;
  /** The codebase no longer has what the sandbox copied or hid here. */
  conflict: boolean;
  /** The rules let the sandbox write the path, and the place in the codebase of what it shows there. */
  writable: boolean;
  /** Contents of the codebase that the rules keep from the sandbox: it is not shown as a change, and not committed. */
  hidden?: boolean;
}

export interface ChangePage {
  changes: WorkspaceChange[];
  more: boolean;
}

export interface OwnDirectory {
  /** For `Settled`. */
  id: number;
  path: ByteString;
  /** The base directory whose files it shows; undefined: it was made anew. */
  origin: ByteString | undefined;
  /** The base has a directory at this path. */
  replaces: boolean;
}

type Version = readonly [inode: number, writes: number];

/** A path at which the base has what the sandbox had: of that version, if it is of its own. */
export interface Settled {
  path: ByteString;
  version?: Version;
  /** The sandbox had nothing there. */
  removed?: boolean;
  /** It was a directory of the sandbox's own, and the base had nothing there before this stage. */
  made?: boolean;
}

/** A stage of a commit that the base took over. */
export interface Settlement {
  commit: string;
  stage: number;
  settled: readonly Settled[];
  /** Paths that are given back to the base, as by `revert`, as far as that is possible. */
  givenUp: readonly ByteString[];
  /**
   * The commit was under way when a server ended or a disk failed. Versions are void then, so contents are compared; and a
   * stage that was settled before is left as it is.
   */
  resumed: boolean;
}

export interface Death {
  reason: string;
  /** The workspace that was being served when the request worker ended; absent: none, or that was not its end. */
  workspace?: string | undefined;
}

/**
 * The mounted file system of all workspaces. All calls may be made concurrently; none touches the mount from the
 * calling thread synchronously. After `close`, and after the mount died, every call rejects with UNAVAILABLE.
 */
export interface Workspaces {
  /** Makes the workspace visible; returns its host path. */
  attach(spec: WorkspaceSpec): Promise<string>;
  /** Takes it away: open files in it fail from now on. The delta stays on disk, synced. */
  detach(id: string): Promise<void>;
  /** From its answer on every operation obeys the new rules. */
  setRules(id: string, rules: readonly PermissionRule[]): Promise<void>;
  /** Call before files of a codebase change on disk (paths as bytes, relative to its root): open readers keep the old content. */
  baseChanging(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** Call after they did, also when the change failed: every attached sandbox sees the present state on return. */
  baseChanged(codebaseId: string, paths: readonly ByteString[]): Promise<void>;
  /** At most `limit` changes after the path `after` ('': from the start), in byte order of their paths. */
  changes(id: string, after: ByteString, limit: number): Promise<{ changes: WorkspaceChange[]; more: boolean }>;
  /**
   * The contents of small files of the sandbox's own (64 KiB each at most), by their inodes (of `version`), as they are
   * now; undefined: it is no small file any more.
   */
  contents(id: string, inodes: readonly number[]): Promise<(Uint8Array | undefined)[]>;
  /**
   * Gives paths ('': all) and all below back to the base, also for those who have files open; returns how many names
   * that were. FAILED_PRECONDITION, with nothing changed, for a path inside of a directory that is not the base's.
   */
  revert(id: string, paths: readonly ByteString[]): Promise<number>;
  /** Directories of the sandbox's own that are not merged with the base at their own path. */
  renamed(id: string): Promise<OwnDirectory[]>;
  /**
   * After the base took over what the sandbox had at these paths, in order of the paths, and before `baseChanged`: the
   * delta lets go of what it still has as it was, journaled as one. Open files go on. The workspace need not be attached.
   */
  settle(spec: WorkspaceSpec, settlement: Settlement): Promise<void>;
  /**
   * Makes what the sandbox has now a layer that never changes: a delta may start from it or go back to it, for as long
   * as the layers that `neededLayers` tells of it are there. One point in time for all programs. The same layer as
   * before, when nothing has changed since. `limited`: RESOURCE_EXHAUSTED, with nothing frozen, when what there is with
   * the index of the new layer is above the quota.
   */
  freeze(id: string, limited?: boolean): Promise<Frozen>;
  /**
   * Before a fork is made of what the sandbox has now, or of one of its checkpoints (its layer; '': of now). Throws
   * RESOURCE_EXHAUSTED when layers that the fork would need hold more than the quota that was removed or overwritten since.
   */
  requireForkRoom(id: string, checkpoint: string): Promise<void>;
  /** After its checkpoints have become others: the frozen layers that they are. One that is not attached has none to tell. */
  setCheckpoints(id: string, layers: readonly string[]): Promise<void>;
  /**
   * The sandbox has what it had when the layer was frozen. Open files show that, too; what is not there any more, or is
   * of another kind, is ESTALE. Layers of its own that this leaves unneeded are the caller's to remove.
   */
  rollback(id: string, layer: string): Promise<void>;
  /**
   * Brings what the sandbox needs of these layers into its own, where that frees the disk of what nobody needs. They must
   * be needed by no other delta, no origin and no checkpoint until it answers: what is left in them is changed with what
   * was taken. 'done': it needs them no more. 'kept': it would not be worth it. 'more': call again.
   */
  absorb(id: string, layers: readonly string[]): Promise<'done' | 'kept' | 'more'>;
  /** After frozen layers were removed on disk: nothing holds them any more. */
  layersRemoved(): Promise<void>;
  /** What programs changed in mapped pages until now is in their files when it resolves. */
  flush(): Promise<void>;
  /** One of `WorkspaceFiles`, in the worker. */
  files<O extends FileOperation>(
    id: string,
    actor: Actor,
    operation: O,
    ...args: Parameters<WorkspaceFiles[O]>
  ): Promise<ReturnType<WorkspaceFiles[O]>>;
  /**
   * Call before files and directories of the codebase go: what directories that the sandbox renamed show of them becomes
   * its own. Answers whether it has any renamed directory. The workspace need not be attached.
   */
  keepRemoved(spec: WorkspaceSpec, paths: readonly ByteString[]): Promise<boolean>;
  /**
   * Where in the codebase lies what a path shows, or would show, of it: another path below a renamed directory.
   * undefined: what is there is the sandbox's own, or removed by it.
   */
  shownFrom(id: string, path: ByteString): Promise<ByteString | undefined>;
  /** What it has, with what its checkpoints keep besides. */
  usage(id: string): Promise<{ bytes: number; files: number }>;
  /** Settles once when the file system stopped serving without `close`, before programs are told by errors. */
  readonly died: Promise<Death>;
  /** Settles when the threads that served it have ended, which may be after `close`: nothing writes to deltas any more. */
  readonly ended: Promise<unknown>;
  /** Looks at once whether the mount is still in place; `died` settles when it is not. Else that takes a second. */
  check(): Promise<void>;
  /** Unmounts and ends the worker; deltas are synced. */
  close(): Promise<void>;
}
