import type { ByteString } from '../byte-string.ts';
import type { PermissionRule } from '../contract/messages.ts';
import type { HostFile } from '../host-tree/host-file.ts';
import type { Reserve } from '../linux/disk-room.ts';
import type { Time } from '../linux/time.ts';
import type { Level } from '../permissions/index.ts';
import type { DirectoryEntry } from '../trees/format/entry.ts';
import type { OwnerBytes } from './delta/owner-bytes.ts';
import type { NumberRange } from './tree/disk/tree-root.ts';

/** A workspace that is a tree over the store of its codebase. */
export interface TreeSpec {
  /** Folder of the store. */
  store: string;
  /** What it shows when it is new, and the version of the codebase that this is. */
  root: DirectoryEntry;
  version: number;
  /** The number of its own store, in its delta. */
  number: bigint;
  /** Inode numbers for its files. */
  numbers: NumberRange;
}

/** One sandbox's view of a codebase: base, delta and rules. */
export interface WorkspaceSpec {
  id: string;
  /** The place that it takes, as reserved for the same uid; absent: it appears in one of its own, with its id. */
  place?: string;
  codebaseId: string;
  /** Host directory of the codebase's files; read-only. */
  base: string;
  /** Absent: it is a delta over `base`. */
  tree?: TreeSpec;
  /** Host directory of this sandbox's delta; created if absent, kept by `detach`. */
  delta: string;
  /** Host directory of the layers of all deltas. Absent: this delta shares no layers, and its layers are in `delta`. */
  layers?: string;
  /** The frozen layer, as returned by `freeze`, from which a new delta starts. */
  origin?: string;
  /** Frozen layers, as returned by `freeze`, of the sandbox's checkpoints; what they retain counts for the quota. */
  checkpoints?: readonly string[];
  /** HOME of the sandbox, which is attached and detached with it. Absent: it has none. */
  home?: HomeSpec;
  /** It is a HOME (see `homeOf`). */
  isHome?: boolean;
  /** The host uid, and gid of the same number, that is served. All others get EACCES. */
  uid: number;
  rules: readonly PermissionRule[];
  /** Quota of the delta, of what its checkpoints retain, and of HOME; 0: none. */
  maxBytes: number;
  maxFiles: number;
  /** Counts the same bytes for the limit of all sandboxes of an owner. Absent: the owner has no limit. */
  ownerBytes?: OwnerBytes;
  /** Room of the disk that only the server may use; absent: none. */
  reserve?: Reserve;
  /** Limit in bytes of the server's memory for the index and the nodes of this workspace; 0 or absent: none. */
  maxIndexBytes?: number;
  /**
   * Shared memory. Its first element is incremented by every change of the sandbox, before the request is answered. The
   * second one by everything after which a reader of a host file must call `check` (`WorkspaceFiles`), and before contents
   * of a host file change.
   */
  changeCount?: Int32Array;
  /**
   * Serves every uid and shows owners and modes as stored: for test suites that change their uid. Never set by the
   * service.
   */
  anyUid?: boolean;
}

/** Where HOME of a sandbox is stored. */
export interface HomeSpec {
  /** Host directory of its delta with all layers; created at its first use, kept by `detach`. */
  delta: string;
  /** An empty host directory, its base. */
  base: string;
}

/** Damage of a workspace on disk. */
export interface DamageReport {
  id: string;
  /** One sentence without its full stop. */
  message: string;
  /** The damaged file; undefined: the whole workspace is unreadable. */
  path?: ByteString;
}

/** Result of `freeze`. */
export interface Frozen {
  layer: string;
  files: number;
  /** Apparent size of all contents in bytes. */
  bytes: number;
}

/** One side of a change. */
export interface ChangeSide {
  /** Includes the file type bits; of the others only the permission bits. */
  mode: number;
  /** In bytes; 0 for a directory; for a symlink the length of its target. */
  size: number;
  mtime: Time;
}

/** A path at which a sandbox differs from its codebase. Paths are byte strings from the root. */
export interface WorkspaceChange {
  path: ByteString;
  kind: 'added' | 'modified' | 'deleted';
  /** False: only the permission bits differ. */
  contentChanged: boolean;
  /** Added, modified. */
  now?: ChangeSide & {
    /** Symlink. */
    target?: ByteString;
    /** File: the host file with its contents, which may still be written to. */
    hostFile?: HostFile;
    /** File without a host file: `contents` returns its bytes. */
    small?: boolean;
    /** File with placeholders: `redactedTexts` returns what a commit stores, of which `size` is, too. */
    isText?: boolean;
    /** With `isText`: a commit would lose values that the codebase's file has. */
    losesValues?: boolean;
    /** File or symlink in the delta: a version that differs when the contents differ. Valid for one attachment. */
    version?: Version;
  };
  /** Modified, deleted: the codebase's side. */
  base?: ChangeSide;
  /** The bytes of a small file in this version, if they were asked for and there was room. */
  contents?: Uint8Array;
  /** Added, modified: its path in the codebase, as far as known, if that is a different one. */
  renamedFrom?: ByteString;
  /** An added file with `renamedFrom` and an inode of its own: the codebase's file at that path, and what the rules grant there. */
  origin?: { base: ChangeSide; level: Level };
  /** File or symlink: its path in the codebase when the sandbox first changed it, if that is a different one. */
  movedFrom?: ByteString;
  /** The codebase no longer has the version that the sandbox copied up or whited out here. */
  conflict: boolean;
  /** The strictest level of the path, of the base path that it shows, and of all links of the file. */
  level: Level;
  /** The rules grant WRITE for the path, and for the base path that it shows. */
  writable: boolean;
  /** What is written at this path is no change by the rules. */
  scratch?: boolean;
  /** Left out by the selection. */
  left?: 'scratch' | 'excluded';
  /** Contents of the codebase that the rules hide from the sandbox: not listed as a change, and not committed. */
  hidden?: boolean;
}

/** Result of `redactedTexts`. A side is absent if it is no file, or one without placeholders. */
export interface RedactedTexts {
  now?: Uint8Array;
  base?: Uint8Array;
}

/** Which of the changes of a sandbox a caller asks for. */
export interface ChangeSelection {
  /** Only those at these paths ('': all) and below. */
  paths: readonly ByteString[];
  /** Globs in the language of rules: without those at paths that one matches, and below. */
  exclude: readonly string[];
  /** What was written at scratch paths is a change, too. */
  scratch: boolean;
}

/** A page of changes; `more`: more changes follow. */
export interface ChangePage {
  changes: WorkspaceChange[];
  more: boolean;
  /** The directories of the delta that are not merged with the base at their own path, or are in one, if they were asked for. */
  own?: OwnDirectory[];
}

/** A directory in the delta. */
export interface OwnDirectory {
  /** Of its inode, as in `RebasedPath.version`. */
  id: number;
  path: ByteString;
  /** The base directory that it shows; undefined: none, the sandbox created it. */
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

/** What a commit will add to the base. */
export interface Adding {
  /** The workspace whose commit it is. */
  id: string;
  /** Paths at which the base has nothing yet, or a directory and something else replace each other. */
  added: readonly ByteString[];
}

/** A workspace in which files that the base loses could not be preserved. */
export interface Unpreserved {
  id: string;
  /** One sentence without its full stop. */
  reason: string;
}

/** Result of `findUnchanged`: ids of workspaces. */
export interface FoundUnchanged {
  open: string[];
  candidates: string[];
}

type Version = readonly [inode: number, writes: number];

/** A path of a stage: the base has what the sandbox had there, of that version if it was an inode of the delta. */
export interface RebasedPath {
  path: ByteString;
  version?: Version;
  /** The sandbox had nothing there. */
  removed?: boolean;
  /** It was a directory, or without a version, and the base had no directory there before this stage. */
  made?: boolean;
}

/** A stage of a commit that was applied to the base. What it added is shown from the base from now on. */
export interface RebaseStage {
  commit: string;
  stage: number;
  paths: readonly RebasedPath[];
  /**
   * The paths of later stages, which commits of earlier servers have: a directory among them is rebased with those, though this
   * stage has something in it.
   */
  later?: readonly ByteString[];
  /** No other stage follows: what is paused for the commit goes on, also if the rebase fails. */
  isLast?: boolean;
  /** Paths to revert, as far as possible. */
  revertPaths: readonly ByteString[];
  /**
   * The commit was interrupted by the end of a server or a failed disk. Versions are invalid then, so contents are
   * compared; a stage after which the sandbox was rebased already is skipped.
   */
  resumed: boolean;
}

/** Why the file system exited. */
export interface FileSystemExit {
  reason: string;
  /**
   * The workspace that the request worker was serving when it exited or hung; absent: none, or it did not cause the
   * exit.
   */
  workspace?: string | undefined;
}
