// Size: the interfaces of all services that handlers call.
import type { Guard } from './access/guard.ts';
import type { Need } from './access/need.ts';
import type { Principal, Role } from './access/principal.ts';
import type {
  Caller,
  Checkpoint,
  Codebase,
  CommitResponse,
  CreateCodebaseRequest,
  CreatedKey,
  CreateKeyRequest,
  DeleteFileRequest,
  ExecRequest,
  ExportFilesRequest,
  FileChange,
  FileInfo,
  FileStat,
  ForkResult,
  ImportCodebaseFilesResponse,
  ImportFilesRequest,
  ImportFilesResponse,
  Key,
  ListDirectoryRequest,
  MakeDirectoryRequest,
  MoveFileRequest,
  OwnerLimits,
  OwnerSettings,
  PermissionExplanation,
  Preset,
  PreviewFileRequest,
  PreviewFileResponse,
  PutSecretRequest,
  ReadFileRequest,
  RefusedPath,
  Sandbox,
  SandboxStatus,
  Secret,
  StatFileRequest,
  Ticket,
  WriteFileRequest,
} from './contract/messages.ts';
import type { ServiceError } from './errors.ts';
import type { Actor, ArchiveFormat, ChangeFormat, ImportMode } from './field-values.ts';
import type { Images } from './image-services.ts';
import type { Count } from './limits/limits.ts';
import type { ReceivedBytes } from './limits/received-bytes.ts';
import type { Networks } from './network-services.ts';
import type { Page } from './paging.ts';
import type { Ports } from './port-services.ts';
import type { Processes } from './process-services.ts';
import type { ByteStream, ReadableFile, StoredFile } from './readable-file.ts';
import type { Execution, NetworkState } from './runtime/runtime.ts';
import type {
  ChangeChoice,
  CommitChanges,
  Narrowed,
  NewForks,
  NewRules,
  NewSandbox,
  SandboxUpdate,
  WithIntent,
} from './sandbox-requests.ts';
import type { Sessions } from './session-services.ts';
import type { Shares } from './shares.ts';
import type { TextTools } from './text-tools/text-tools.ts';
import type { SharedThreads } from './threads/thread-pool.ts';

export type * from './sandbox-requests.ts';

/** Patterns of the paths that a sandbox's commands may write and read; `**` is everything. */
export interface Granted {
  write: readonly string[];
  read: readonly string[];
  /** The mode of the network policy; empty: no connections. */
  network: string;
}

export type NewCodebase = CreateCodebaseRequest & WithIntent;
/** A request on the files of a sandbox, with the identity it is made as. */
export type FileAccess<Request> = Narrowed<Request, { as: Actor | '' }>;
export type ArchiveAccess<Request> = Narrowed<Request, { as: Actor | ''; format: ArchiveFormat | '' }>;

/** What a store in memory answers at once, and a database after a while: callers wait for it. */
export type Awaitable<T> = T | Promise<T>;

/** Selects the sandboxes of a list. Empty and absent parts match every sandbox. */
export interface SandboxFilter {
  codebase_id: string;
  owner_id?: string;
  status?: SandboxStatus;
  /** All must be labels of the sandbox, with these values. */
  labels?: Readonly<Record<string, string>>;
}

/** The life cycle of sandboxes and the commands in them. Errors are ServiceErrors with the codes of the contract. */
export interface Sandboxes {
  /** The sandbox is RUNNING when the call resolves. */
  create(request: NewSandbox): Promise<Sandbox>;
  /** `as` "agent": without the rules, the labels, and the error of an automatic commit, which may tell what is hidden. */
  get(id: string, as?: Actor | ''): Awaitable<Sandbox>;
  /** The newest first. */
  list(filter: SandboxFilter & Page): Awaitable<{ sandboxes: Sandbox[]; next_page_token: string }>;
  /** Only what the request names, all or nothing. Durable when the call resolves. */
  update(request: SandboxUpdate): Promise<Sandbox>;
  start(id: string): Promise<Sandbox>;
  stop(id: string): Promise<Sandbox>;
  /**
   * FAILED_PRECONDITION, with the sandbox stopped, if its `auto_commit` changes cannot be committed. With `discard`
   * they are dropped instead.
   */
  destroy(id: string, discard?: boolean): Promise<void>;
  exec(request: ExecRequest, signal: AbortSignal): Promise<Execution>;
  /** In force and durable when the call resolves. */
  updatePermissions(request: NewRules): Promise<Sandbox>;
  /** `as` "agent": NOT_FOUND for a path that the rules hide, and only the rule that wins for others. */
  /** What the rules grant, without patterns that would name what they hide. */
  granted(id: string): Promise<Granted>;
  explainPermission(id: string, path: string, as?: Actor | ''): Promise<PermissionExplanation>;
  /** What the rules refused its commands since it runs, by the present rules. Of a sandbox that does not run, nothing. */
  listRefusals(id: string): Promise<RefusedPath[]>;
  presets(): readonly Preset[];
  /**
   * The differences between the sandbox and its codebase, in byte order of their paths. `as` "agent": only those at paths
   * that the sandbox sees.
   */
  listChanges(
    id: string,
    page: Page,
    as?: Actor | '',
    choice?: ChangeChoice & { diff?: boolean; local?: boolean },
  ): Promise<{ changes: FileChange[]; next_page_token: string }>;
  /**
   * Exports the changes as a `patch` for git apply, or the changed files as a `tar`. The stream has started when the
   * call resolves. `as` "agent": only those that the sandbox can read. `signal` ends the stream in the middle of a diff.
   */
  exportChanges(
    id: string,
    format: ChangeFormat,
    as?: Actor | '',
    choice?: ChangeChoice,
    signal?: AbortSignal,
  ): Promise<ByteStream>;
  /** Atomic, also across a crash. Rejects with ABORTED and the conflicting paths in the details. */
  commit(request: CommitChanges): Promise<CommitResponse>;
  /**
   * Reverts the paths (none: all) and everything below them to the codebase, except scratch and what is excluded. In
   * effect, for open files too, when the call resolves.
   */
  discard(id: string, paths: readonly string[], choice?: Omit<ChangeChoice, 'paths'>): Promise<{ discarded: number }>;
  /**
   * Stores a named snapshot of one moment of the sandbox, which may be running. ALREADY_EXISTS if the name is in use.
   */
  createCheckpoint(id: string, name: string, intent?: string): Promise<Checkpoint>;
  listCheckpoints(id: string): Awaitable<Checkpoint[]>;
  deleteCheckpoint(id: string, name: string): Promise<void>;
  /** In effect, for open files too, and durable when the call resolves. The checkpoint is kept. */
  rollback(id: string, checkpoint: string): Promise<Sandbox>;
  /**
   * All forks are RUNNING when the call resolves, one result for each requested fork. Rejects if there is nothing to
   * fork.
   */
  fork(request: NewForks): Promise<ForkResult[]>;
  /** Does not follow a symbolic link, like lstat(2). */
  statFile(request: FileAccess<StatFileRequest>): Promise<FileStat>;
  /** What the agent sees of a redacted file, for the owner. No value leaves the service. */
  previewFile(request: PreviewFileRequest): Promise<PreviewFileResponse>;
  /** Entries in byte order of their paths. */
  listDirectory(request: FileAccess<ListDirectoryRequest>): Promise<{ files: FileStat[]; next_page_token: string }>;
  readFile(request: FileAccess<ReadFileRequest>): Promise<ReadableFile>;
  /** Atomic: a reader sees the old or the new file; open files keep the old one. */
  writeFile(request: FileAccess<WriteFileRequest>, content: AsyncIterable<Uint8Array>): Promise<FileStat>;
  makeDirectory(request: FileAccess<MakeDirectoryRequest>): Promise<FileStat>;
  moveFile(request: FileAccess<MoveFileRequest>): Promise<FileStat>;
  deleteFile(request: FileAccess<DeleteFileRequest>): Promise<{ removed: number }>;
  /** Exports a directory as an archive. The stream has started when the call resolves. */
  exportFiles(request: ArchiveAccess<ExportFilesRequest>): Promise<ByteStream>;
  /** Unpacks an archive into a directory, atomically. */
  importFiles(
    request: ArchiveAccess<ImportFilesRequest>,
    archive: AsyncIterable<Uint8Array>,
  ): Promise<ImportFilesResponse>;
  /** Ends expired sandboxes, each by its `on_expire`; a failure does not prevent the others. Called by the cleanup task. */
  expire(): Promise<void>;
  /**
   * Stops or destroys the sandboxes that were idle for their `idle_timeout`. Called every second; calls may overlap.
   * Never rejects.
   */
  endIdle(): Promise<void>;
}

export interface Codebases {
  create(request: NewCodebase): Promise<Codebase>;
  get(id: string): Promise<Codebase>;
  /** The newest first. */
  list(filter: { owner_id: string } & Page): Promise<{ codebases: Codebase[]; next_page_token: string }>;
  delete(id: string): Promise<void>;
  /**
   * Atomic: a reader sees the old or the new file. Durable when the call resolves. `mode`: permission bits, 0o644 if
   * absent. `symlinkTarget`: stores a symlink, and there must be no content. An error thrown by `content` leaves the
   * file unchanged.
   */
  upload(
    id: string,
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: { mode?: number; symlinkTarget?: string },
  ): Promise<{ size: number; checksum: string }>;
  /**
   * Imports an archive, plain or compressed with gzip or zstd, all or nothing, also across a crash. Durable when the call
   * resolves. `replace`: the codebase has exactly the archive afterwards; `merge`: other files are kept; `update`: so
   * they are, unless the archive says that they are removed. ABORTED: it has not the revision `onlyAt`; empty: any.
   */
  importArchive(
    id: string,
    mode: ImportMode,
    archive: AsyncIterable<Uint8Array>,
    onlyAt?: string,
  ): Promise<ImportCodebaseFilesResponse>;
  /** Exports a directory as an archive. */
  exportArchive(id: string, path: string): Promise<ByteStream>;
  open(id: string, path: string): Promise<StoredFile>;
  removeFile(id: string, path: string): Promise<void>;
  listFiles(
    id: string,
    request: { path: string; recursive: boolean } & Page,
  ): Promise<{ files: FileInfo[]; next_page_token: string }>;
}

export type NewKey = Narrowed<CreateKeyRequest, { role: Role | '' }> & WithIntent;

/** The keys that callers authenticate with. FAILED_PRECONDITION, except for `describe`, if authentication is off. */
export interface Keys {
  /** Durable when the call resolves. `createdBy`: the id of the key that creates it. */
  create(request: NewKey, createdBy: string): Promise<CreatedKey>;
  list(filter: { owner_id: string } & Page): Awaitable<{ keys: Key[]; next_page_token: string }>;
  /** Durable when the call resolves; the calls in progress with the key have been told to end. */
  revoke(id: string): Promise<void>;
  describe(principal: Principal): Caller;
  /** A ticket with the rights of the caller's key, for one GET request of `path`; see `Tickets`. */
  createTicket(path: string, principal: Principal): Ticket;
  /** Removes keys that can never be used again. Called by the cleanup task. */
  expire(): Promise<void>;
}

/** The limits of owners. FAILED_PRECONDITION if authentication is off. */
export interface LimitsOfOwners {
  /** In force and durable when the call resolves. An absent limit is as configured. */
  set(ownerId: string, limits: OwnerLimits): Promise<OwnerSettings>;
  get(ownerId: string): Awaitable<OwnerSettings>;
}

/** The secrets of owners; nothing returns a value. */
export interface Secrets {
  /** Durable when it resolves, and in force for the next request of each sandbox. UNAVAILABLE: there is no usable key. */
  put(request: PutSecretRequest): Promise<Secret>;
  get(request: { owner_id: string; name: string }): Secret;
  list(request: { owner_id: string } & Page): { secrets: Secret[]; next_page_token: string };
  /** FAILED_PRECONDITION: sandboxes are bound to it, and `force` is not set. */
  remove(request: { owner_id: string; name: string; force: boolean }): Promise<void>;
}

/** Key of a call as it was sent. */
export interface Credentials {
  /** All values of the `authorization` header. */
  authorization: readonly string[];
  /** All values of the `x-api-key` header. */
  apiKey: readonly string[];
  /** A ticket, and what the request that has it asks for; absent: the request has none. */
  ticket?: { value: string; target: string } | undefined;
  /** The common name of the client's verified certificate; undefined: it has none. */
  clientName?: () => string | undefined;
}

/** Decides who may call what. */
export interface Access {
  /**
   * Authenticates a call, and checks what does not depend on its request: UNAUTHENTICATED, PERMISSION_DENIED, or
   * RESOURCE_EXHAUSTED if the call would exceed a limit of its key or owner (`counts`: what it is counted as). `end` is
   * called if the key is revoked or expires before the caller releases the guard. `credentials`: only if a key is needed.
   */
  admit(
    credentials: () => Credentials,
    need: Need,
    end: (reason: ServiceError) => void,
    counts: readonly Count[],
  ): Guard;
  /**
   * Counts a call of a caller who was authenticated otherwise until the returned function is called, once.
   * RESOURCE_EXHAUSTED if it would exceed a limit of the caller or its owner.
   */
  count(principal: Principal, counts: readonly Count[]): () => void;
}

/** A call with an idempotency key. */
export interface KeyedCall<R extends object> {
  key: string;
  operation: string;
  request: R;
  principal: Principal;
}

/** Lets calls with an idempotency key be repeated safely. */
export interface Retries {
  /**
   * Runs `effect` once for all calls of one caller with the same key and the same operation and request; all of them get
   * its answer, for 24 hours and across restarts. An error is given to the calls that wait for it, and is not kept.
   * `narrow` returns the request to use and throws if the caller may not make it; a repeated call, which is equal to one
   * that was allowed to the same caller, does not need it. `intent` identifies the request: what `effect` creates must
   * be stored with it. ABORTED: the key was used for another request.
   */
  once<R extends object, T>(
    call: KeyedCall<R>,
    narrow: () => R,
    effect: (request: R, intent: string) => T | Promise<T>,
  ): Promise<T>;
  /** Records the answer to a request whose effect is certain, before its call ends. Never rejects. */
  record(intent: string, answer: unknown): Promise<void>;
  /** Forgets answers that are older than 24 hours. Called by the cleanup task. */
  expire(): Promise<void>;
}

export interface TimeoutAdvice {
  /** The longest timeout of a command, in seconds. */
  maxTimeout: number;
  /** Absent: the sandbox is not running. */
  network?: NetworkState;
}

/** The services that handlers use; tests pass fakes. */
export interface Services {
  sandboxes: Sandboxes;
  processes: Processes;
  sessions: Sessions;
  networks: Networks;
  ports: Ports;
  codebases: Codebases;
  images: Images;
  keys: Keys;
  access: Access;
  owners: LimitsOfOwners;
  secrets: Secrets;
  retries: Retries;
  /** Threads for work on texts and lists of paths. */
  textTools: SharedThreads<TextTools>;
  /** The memory of requests that are being received, of all doors together. */
  received: ReceivedBytes;
  /**
   * Counts a call as use of a sandbox until the returned function is called; further calls of it do nothing. undefined:
   * there is no such sandbox. Absent: calls are not counted.
   */
  beginCall?: (sandboxId: string) => (() => void) | undefined;
  /** What is known after a timeout in a sandbox. Absent: nothing. */
  timeoutAdvice?: (sandboxId: string) => Promise<TimeoutAdvice>;
  /** Milliseconds without a chunk after which ExecStream sends a keepalive; absent: KEEPALIVE_MS. */
  keepaliveMs?: number;
  limits?: {
    /** Maximum bytes of each output stream that Exec returns; absent: DEFAULT_OUTPUT_BYTES. */
    execOutputBytes?: number;
    /** Memory for the input and output of commands, in bytes, per sandbox id. Absent: no limit. */
    execMemory?: Shares<string>;
  };
}
