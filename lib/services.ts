import type { Readable } from 'node:stream';
import type { Actor, ArchiveFormat, AutoCommit, ChangeFormat, ConflictChoice } from './field-values.ts';
import type {
  Checkpoint,
  Codebase,
  CommitRequest,
  CommitResponse,
  CreateSandboxRequest,
  DeleteFileRequest,
  ExecRequest,
  ExportFilesRequest,
  FileChange,
  FileInfo,
  FileStat,
  ForkRequest,
  ForkResult,
  ImportFilesRequest,
  ImportFilesResponse,
  ListDirectoryRequest,
  MakeDirectoryRequest,
  MoveFileRequest,
  PermissionExplanation,
  Preset,
  ReadFileRequest,
  Sandbox,
  StatFileRequest,
  UpdatePermissionsRequest,
  WriteFileRequest,
} from './messages.ts';
import type { Page } from './paging.ts';
import type { Execution } from './runtime/runtime.ts';
import type { Shares } from './shares.ts';

/** A request with narrower types of some fields, as its handler has checked them; without the bytes of a stream. */
type Narrowed<Request, Fields> = Omit<Request, keyof Fields | 'chunk'> & Fields;

export type NewSandbox = Narrowed<CreateSandboxRequest, { auto_commit: AutoCommit | '' }>;
export type NewForks = Narrowed<ForkRequest, { auto_commit: AutoCommit | '' }>;
export type CommitChanges = Narrowed<CommitRequest, { on_conflict: ConflictChoice | '' }>;
/** A request on the files of a sandbox, with the one whose view it takes. */
export type FileAccess<Request> = Narrowed<Request, { as: Actor | '' }>;
export type ArchiveAccess<Request> = Narrowed<Request, { as: Actor | ''; format: ArchiveFormat | '' }>;

/** The life cycle of sandboxes and the commands in them. Errors are ServiceErrors with the codes of the contract. */
export interface Sandboxes {
  /** RUNNING on return. */
  create(request: NewSandbox): Promise<Sandbox>;
  get(id: string): Sandbox;
  list(filter: { codebase_id: string } & Page): { sandboxes: Sandbox[]; next_page_token: string };
  start(id: string): Promise<Sandbox>;
  stop(id: string): Promise<Sandbox>;
  /**
   * FAILED_PRECONDITION, with the sandbox stopped, when its `auto_commit` is for changes that cannot be committed;
   * `discard`: they are not.
   */
  destroy(id: string, discard?: boolean): Promise<void>;
  exec(request: ExecRequest, signal: AbortSignal): Promise<Execution>;
  /** In force, and durable, on return. */
  updatePermissions(request: UpdatePermissionsRequest): Promise<Sandbox>;
  explainPermission(id: string, path: string): Promise<PermissionExplanation>;
  presets(): readonly Preset[];
  /** Where the sandbox differs from its codebase, in byte order of the paths. */
  listChanges(id: string, page: Page): Promise<{ changes: FileChange[]; next_page_token: string }>;
  /** The changes as a `patch` that git applies, or the changed files as a `tar`; begun when it resolves. */
  exportChanges(id: string, format: ChangeFormat): Promise<ByteStream>;
  /** All or nothing, also over a crash. ABORTED with the paths in the details where there are conflicts. */
  commit(request: CommitChanges): Promise<CommitResponse>;
  /** Gives paths (none: all) and all below back to the codebase; in effect, for open files too, on return. */
  discard(id: string, paths: readonly string[]): Promise<{ discarded: number }>;
  /** Names what the sandbox has now, as at one moment, while it runs. ALREADY_EXISTS for a name it has. */
  createCheckpoint(id: string, name: string): Promise<Checkpoint>;
  listCheckpoints(id: string): Checkpoint[];
  deleteCheckpoint(id: string, name: string): Promise<void>;
  /** In effect, for open files too, and durable on return; the checkpoint stays. */
  rollback(id: string, checkpoint: string): Promise<Sandbox>;
  /** RUNNING on return; as many results as were asked for. Rejects when there is nothing to fork. */
  fork(request: NewForks): Promise<ForkResult[]>;
  /** Of a symlink itself. */
  statFile(request: FileAccess<StatFileRequest>): Promise<FileStat>;
  /** In byte order of the paths. */
  listDirectory(request: FileAccess<ListDirectoryRequest>): Promise<{ files: FileStat[]; next_page_token: string }>;
  readFile(request: FileAccess<ReadFileRequest>): Promise<ReadableFile>;
  /** Atomic: the file is the old or the new one; who has the old one open keeps it. */
  writeFile(request: FileAccess<WriteFileRequest>, content: AsyncIterable<Uint8Array>): Promise<FileStat>;
  makeDirectory(request: FileAccess<MakeDirectoryRequest>): Promise<FileStat>;
  moveFile(request: FileAccess<MoveFileRequest>): Promise<FileStat>;
  deleteFile(request: FileAccess<DeleteFileRequest>): Promise<{ removed: number }>;
  /** A directory's contents as an archive; begun when it resolves. */
  exportFiles(request: ArchiveAccess<ExportFilesRequest>): Promise<ByteStream>;
  /** An archive's contents into a directory, all or nothing. */
  importFiles(
    request: ArchiveAccess<ImportFilesRequest>,
    archive: AsyncIterable<Uint8Array>,
  ): Promise<ImportFilesResponse>;
  /** Destroys what has expired; one failure does not keep the others. Called by the cleanup adapter. */
  expire(): Promise<void>;
}

/** Bytes as they are made. Iterate it, or nothing is held. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  contentType: string;
}

/** One version of a file. */
export interface ReadableFile {
  size: number;
  /** Tells this version from any other. */
  etag: string;
  /** Unix seconds. */
  modified_at: number;
  /** Bytes start (inclusive) to end (exclusive); the caller must consume or destroy it. Always the version of this object. */
  read(range?: { start: number; end: number }): Readable;
  /** Must be called once when no further read will be made; a read under way keeps its own hold. */
  close(): Promise<void>;
}

export interface StoredFile extends ReadableFile {
  /** Lower-case hex SHA-256 of the content; the etag too. */
  checksum: string;
}

export interface Codebases {
  create(request: { name: string; owner_id: string }): Promise<Codebase>;
  get(id: string): Promise<Codebase>;
  list(filter: { owner_id: string } & Page): Promise<{ codebases: Codebase[]; next_page_token: string }>;
  delete(id: string): Promise<void>;
  /**
   * Atomic: the file is the old or the new one, and durable on return. `mode`: permission bits, 0o644 when absent.
   * An error of `content` leaves nothing behind.
   */
  upload(
    id: string,
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: { mode?: number },
  ): Promise<{ size: number; checksum: string }>;
  open(id: string, path: string): Promise<StoredFile>;
  removeFile(id: string, path: string): Promise<void>;
  listFiles(
    id: string,
    request: { path: string; recursive: boolean } & Page,
  ): Promise<{ files: FileInfo[]; next_page_token: string }>;
}

/** What handlers are given; tests pass fakes. */
export interface Services {
  sandboxes: Sandboxes;
  codebases: Codebases;
  limits?: {
    /** Bytes of each output stream that Exec keeps; absent: 8 MiB. */
    execOutputBytes?: number;
    /** Bytes of what commands are given and write that the server holds; the holder is a sandbox's id. Absent: no limit. */
    execMemory?: Shares<string>;
  };
}
