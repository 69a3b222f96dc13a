import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { HostFile } from '../host-tree/host-file.ts';
import type { Time } from '../linux/time.ts';

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

/** What will change in the base. */
export interface ChangingBase {
  paths: readonly ByteString[];
  /** Paths that are removed, or that may be. */
  removed: readonly ByteString[];
}

export interface FoundUnchanged {
  open: string[];
  candidates: string[];
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
