/**
 * The messages of proto/service/v1, as both protocols carry them: proto field names, enums by name, int64 as number
 * (all values fit 2^53). Handlers and lib speak these; only the adapters know how they look on the wire.
 */
export const PERMISSIONS = ['PERMISSION_NONE', 'PERMISSION_VIEW', 'PERMISSION_READ', 'PERMISSION_WRITE'] as const;
export const PATTERN_TYPES = ['PATTERN_GLOB', 'PATTERN_DIRECTORY', 'PATTERN_FILE'] as const;
export const SANDBOX_STATUSES = ['SANDBOX_PENDING', 'SANDBOX_RUNNING', 'SANDBOX_STOPPED', 'SANDBOX_ERROR'] as const;
export const RUNTIMES = ['RUNTIME_BWRAP', 'RUNTIME_DOCKER', 'RUNTIME_MOCK'] as const;
export const CHANGE_KINDS = ['CHANGE_ADDED', 'CHANGE_MODIFIED', 'CHANGE_DELETED'] as const;
export const FILE_TYPES = ['TYPE_FILE', 'TYPE_DIRECTORY', 'TYPE_SYMLINK', 'TYPE_OTHER'] as const;
export const OUTPUT_STREAMS = ['STDOUT', 'STDERR'] as const;
export const AUTO_COMMITS = ['never', 'on_exec', 'on_stop'] as const;

export type Permission = (typeof PERMISSIONS)[number];
export type PatternType = (typeof PATTERN_TYPES)[number];
export type SandboxStatus = (typeof SANDBOX_STATUSES)[number];
export type RuntimeName = (typeof RUNTIMES)[number];
export type ChangeKind = (typeof CHANGE_KINDS)[number];
export type FileType = (typeof FILE_TYPES)[number];
export type OutputStream = (typeof OUTPUT_STREAMS)[number];
/** When a sandbox's changes go to the codebase without a Commit; `on_exec` is also `on_stop`. */
export type AutoCommit = (typeof AUTO_COMMITS)[number];

export interface PermissionRule {
  pattern: string;
  permission: Permission;
  type: PatternType;
  priority: number;
}

/** 0 means no limit. cpu_quota: microseconds per 100 000 µs; cpu_shares: relative weight, 1024 is one share. */
export interface ResourceLimits {
  memory_bytes: number;
  cpu_quota: number;
  cpu_shares: number;
  pids_limit: number;
}

export interface Sandbox {
  id: string;
  codebase_id: string;
  status: SandboxStatus;
  permissions: PermissionRule[];
  labels: Record<string, string>;
  /** Unix seconds, UTC. */
  created_at: number;
  /** Unix seconds, UTC; 0: never. */
  expires_at: number;
  runtime: RuntimeName;
  image: string;
  resources: ResourceLimits;
  /** Why the sandbox is SANDBOX_ERROR, or why the server last brought it up again by itself; empty otherwise. Added to the contract: field 11. */
  status_reason: string;
  /** Added to the contract: fields 12 to 14. */
  auto_commit: AutoCommit;
  /** Why the last automatic commit was not made; empty: it was, or there was none. */
  auto_commit_error: string;
  /** After a conflict: none is tried until a Commit or Discard succeeds. */
  auto_commit_stopped: boolean;
}

export interface CreateSandboxRequest {
  codebase_id: string;
  permissions: PermissionRule[];
  labels: Record<string, string>;
  /** Seconds; 0: the server's default. */
  expires_in: number;
  /** Absent: the server's `runtime.type`. */
  runtime?: RuntimeName;
  image: string;
  resources: ResourceLimits;
  /** Name of a preset, whose rules `permissions` extend; empty: none. Added to the contract: field 8. */
  preset: string;
  /** One of AUTO_COMMITS; empty: never. Added to the contract: field 9. */
  auto_commit: string;
}

export interface UpdatePermissionsRequest {
  sandbox_id: string;
  permissions: PermissionRule[];
  preset: string;
}

export interface MatchingRule {
  /** Its place in the sandbox's `permissions`. */
  index: number;
  rule: PermissionRule;
}

export interface PermissionExplanation {
  path: string;
  permission: Permission;
  /** Absent: no rule matches. */
  winner?: MatchingRule;
  beaten: MatchingRule[];
  pass_through: boolean;
  reason: string;
}

export interface Preset {
  name: string;
  description: string;
  permissions: readonly PermissionRule[];
}

export interface ExecRequest {
  sandbox_id: string;
  command: string;
  stdin: string;
  env: Record<string, string>;
  workdir: string;
  /** Seconds; 0: the server's default. */
  timeout: number;
}

export interface ExecResponse {
  stdout: string;
  stderr: string;
  exit_code: number;
  duration_ms: number;
}

/** All but the last carry data; the last carries exit_code and duration_ms and no data. */
export interface ExecStreamChunk {
  data: Uint8Array;
  stream: OutputStream;
  exit_code?: number;
  duration_ms?: number;
}

export interface Codebase {
  id: string;
  name: string;
  owner_id: string;
  created_at: number;
  file_count: number;
  total_size: number;
}

export interface FileInfo {
  path: string;
  size: number;
  modified_at: number;
  is_dir: boolean;
  /** Permission bits (0o755 style). Added to the contract: field 5. */
  mode: number;
}

/** A path at which a sandbox has something else than its codebase. */
export interface FileChange {
  path: string;
  kind: ChangeKind;
  /** What is there; of a deletion, what was. */
  type: FileType;
  /** In the sandbox and in the codebase; 0 where there is none, and of a directory. */
  size: number;
  base_size: number;
  /** Permission bits; 0 where there is none. */
  mode: number;
  base_mode: number;
  /** What the codebase has, when it is of another type. */
  base_type: FileType;
  /** False: only the permission bits are others. */
  content_changed: boolean;
  /** Added: where the codebase has it, as far as that is known; else empty. */
  renamed_from: string;
  /** The codebase no longer has what the sandbox copied or hid here: a commit has to say whose version it takes. */
  conflict: boolean;
}

export interface CommitRequest {
  sandbox_id: string;
  /** Each with all below it; none: all changes. */
  paths: string[];
  /** 'ours': the sandbox's version; 'theirs': the codebase's; '': nothing is committed. */
  on_conflict: string;
  dry_run: boolean;
}

export interface CommitResponse {
  committed: boolean;
  /** Of all changes committed, or (dry_run) that would be. */
  count: number;
  /** The first 1000 of them. */
  changes: FileChange[];
  /** The first 1000 paths of which the codebase had another version. */
  conflicts: string[];
}

export interface Checkpoint {
  sandbox_id: string;
  /** One of its own in the sandbox. */
  name: string;
  /** Unix seconds, UTC. */
  created_at: number;
  /** What the sandbox's delta held: files, directories and symlinks, and the bytes of the files. */
  files: number;
  bytes: number;
}

/** What is empty, or 0, is as the forked sandbox has it. */
export interface ForkRequest {
  sandbox_id: string;
  /** 1 to 100; 0: 1. */
  count: number;
  /** Name of a checkpoint; empty: what the sandbox has now. */
  checkpoint: string;
  permissions: PermissionRule[];
  preset: string;
  labels: Record<string, string>;
  /** Seconds. */
  expires_in: number;
  resources: ResourceLimits;
  auto_commit: string;
}

/** One of the two. */
export interface ForkResult {
  sandbox?: Sandbox;
  /** `code`: of gRPC. */
  error?: { code: number; message: string };
}

/** What is at a path of a sandbox's workspace. */
export interface FileStat {
  path: string;
  type: FileType;
  /** 0 of a directory; a symlink's is the length of its target. */
  size: number;
  /** Permission bits, as the one who asks has them. */
  mode: number;
  /** Unix seconds. */
  modified_at: number;
  /** Of a symlink that may be read; else empty. */
  target: string;
  /** What the sandbox's rules say, whoever asks. */
  permission: Permission;
}

/** `as`: 'agent' (or empty), by the rules, or 'owner', everything. `path`: from the root of the workspace. */
export interface FileRequest {
  sandbox_id: string;
  as: string;
  path: string;
}

export type StatFileRequest = FileRequest;
export type ReadFileRequest = FileRequest;
export type ListDirectoryRequest = FileRequest & { recursive: boolean } & Page;
/** `mode`: permission bits; 0: those of the file that is there, or 0644. */
export type WriteFileRequest = FileRequest & { mode: number };
export type MakeDirectoryRequest = FileRequest & { mode: number; parents: boolean };
export type DeleteFileRequest = FileRequest & { recursive: boolean };
export type MoveFileRequest = Omit<FileRequest, 'path'> & { from: string; to: string; replace: boolean };
/** `path`: a directory. `format`: 'tar' (or empty). */
export type ArchiveRequest = FileRequest & { format: string };

export interface ImportFilesResponse {
  files: number;
  directories: number;
  symlinks: number;
  /** Bytes of contents. */
  size: number;
}

export interface Page {
  page_size: number;
  page_token: string;
}
