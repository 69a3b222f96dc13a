// Generated from proto/service/v1 and handlers/index.ts by `npm run generate`; do not edit.

import type { Body, CallOptions } from '../http/call.ts';
import type {
  Caller,
  Checkpoint,
  ClosePortRequest,
  Codebase,
  CommitRequest,
  CommitResponse,
  Connection,
  CreateCheckpointRequest,
  CreateCodebaseRequest,
  CreatedKey,
  CreateKeyRequest,
  CreateSandboxRequest,
  CreateSessionRequest,
  CreateTicketRequest,
  DeleteCheckpointRequest,
  DeleteCodebaseRequest,
  DeleteFileRequest,
  DeleteFileResponse,
  DeleteImageRequest,
  DeleteProcessRequest,
  DeleteSecretRequest,
  DestroySandboxRequest,
  DestroySessionRequest,
  DiscardRequest,
  DiscardResponse,
  DownloadFileRequest,
  ExecRequest,
  ExecResponse,
  ExecStreamChunk,
  ExplainNetworkRequest,
  ExplainPermissionRequest,
  ExportChangesRequest,
  ExportCodebaseFilesRequest,
  ExportFilesRequest,
  FileChange,
  FileInfo,
  FileStat,
  ForkRequest,
  ForkResponse,
  GetCodebaseRequest,
  GetImageRequest,
  GetNetworkRequest,
  GetOwnerLimitsRequest,
  GetPortRequest,
  GetProcessRequest,
  GetSandboxRequest,
  GetSecretRequest,
  GetSessionRequest,
  Image,
  ImportCodebaseFilesRequest,
  ImportCodebaseFilesResponse,
  ImportFilesRequest,
  ImportFilesResponse,
  ImportImageRequest,
  Key,
  ListChangesRequest,
  ListCheckpointsRequest,
  ListCodebasesRequest,
  ListConnectionsRequest,
  ListDirectoryRequest,
  ListFilesRequest,
  ListKeysRequest,
  ListPortsRequest,
  ListPortsResponse,
  ListProcessesRequest,
  ListRefusalsRequest,
  ListSandboxesRequest,
  ListSecretsRequest,
  ListSessionsRequest,
  MakeDirectoryRequest,
  MoveFileRequest,
  NetworkEvent,
  NetworkExplanation,
  NetworkPolicy,
  NetworkPreset,
  OpenedPort,
  OpenPortRequest,
  OpenPortResponse,
  OwnerSettings,
  PermissionExplanation,
  Preset,
  PreviewFileRequest,
  PreviewFileResponse,
  Process,
  ProcessEvent,
  PutSecretRequest,
  ReadFileRequest,
  ReadProcessOutputRequest,
  ReadProcessOutputResponse,
  RefusedPath,
  RemoveFileRequest,
  ResizeTerminalRequest,
  RevokeKeyRequest,
  RollbackRequest,
  Sandbox,
  Secret,
  Session,
  SessionExecRequest,
  SetOwnerLimitsRequest,
  SignalProcessRequest,
  StartProcessRequest,
  StartSandboxRequest,
  StatFileRequest,
  StopSandboxRequest,
  Ticket,
  UpdateNetworkRequest,
  UpdatePermissionsRequest,
  UpdateSandboxRequest,
  UploadFileRequest,
  UploadFileResponse,
  WaitPortRequest,
  WaitPortResponse,
  WatchNetworkRequest,
  WatchProcessRequest,
  WriteFileRequest,
  WriteProcessInputRequest,
  WriteProcessInputResponse,
} from './messages.ts';

/** Of this package. */
export const VERSION = '0.1.0';

/** Fields whose values are converted, by name. The keys of a map are the caller's own. */
export const forms: Readonly<Record<string, string>> = {
  kind: 'enum',
  type: 'enum',
  base_type: 'enum',
  data: 'bytes',
  created_at: 'time',
  modified_at: 'time',
  env: 'map',
  stream: 'enum',
  status: 'enum',
  closed_at: 'time?',
  permission: 'enum',
  expires_at: 'time?',
  last_used_at: 'time?',
  opened_at: 'time',
  labels: 'map',
  started_at: 'time',
  ended_at: 'time?',
  runtime: 'enum',
  destroy_at: 'time?',
  updated_at: 'time',
};

/** Lengths of time in requests, by name: how many units of the wire are a second. */
export const durations: Readonly<Record<string, number>> = {
  timeout: 1,
  yield_after: 1000,
  expires_in: 1,
  wait: 1000,
  idle_timeout: 1,
};

/** The values of enums in requests, by the name of the field. */
export const enums: Readonly<Record<string, { prefix: string; words: readonly string[] }>> = {
  permission: { prefix: 'PERMISSION_', words: ['none', 'view', 'read', 'write'] },
  type: { prefix: 'PATTERN_', words: ['glob', 'directory', 'file'] },
  runtime: { prefix: 'RUNTIME_', words: ['bwrap', 'docker', 'mock'] },
  status: { prefix: 'SANDBOX_', words: ['pending', 'running', 'stopped', 'error'] },
};

/** What the fields of requests must be, if it is not "string": by name, and by "operation.name". */
export const checks: Readonly<Record<string, string>> = {
  mode: 'integer 0 511 0777 in octal',
  recursive: 'boolean',
  'importCodebaseFiles.mode': 'one replace|merge|update',
  format: 'one tar',
  role: 'one admin|owner|agent',
  scopes: 'strings',
  expiresIn: 'converted',
  'updateNetwork.mode': 'one none|allow_list|open',
  rules: 'objects',
  presets: 'strings',
  revision: 'integer 0',
  port: 'integer 1 65535',
  after: 'integer 0',
  deniedOnly: 'boolean',
  limits: 'object',
  access: 'one key|link',
  opened: 'boolean',
  listening: 'boolean',
  command: 'command',
  argv: 'strings',
  env: 'map',
  stdin: 'boolean',
  terminal: 'object',
  timeout: 'converted',
  labels: 'map',
  merge: 'boolean',
  running: 'boolean',
  signal: 'one SIGHUP|SIGINT|SIGQUIT|SIGILL|SIGTRAP|SIGABRT|SIGBUS|SIGFPE|SIGKILL|SIGUSR1|SIGSEGV|SIGUSR2|SIGPIPE|SIGALRM|SIGTERM|SIGSTKFLT|SIGCHLD|SIGCONT|SIGSTOP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGXCPU|SIGXFSZ|SIGVTALRM|SIGPROF|SIGWINCH|SIGIO|SIGPWR|SIGSYS',
  columns: 'integer 1 1000',
  rows: 'integer 1 1000',
  offset: 'integer 0',
  maxBytes: 'integer 0 1048576',
  wait: 'converted',
  end: 'boolean',
  takeover: 'boolean',
  'attachProcess.stdin': 'bytes',
  endStdin: 'boolean',
  resize: 'object',
  permissions: 'objects',
  runtime: 'converted',
  resources: 'object',
  autoCommit: 'one never|on_exec|on_stop',
  idleTimeout: 'converted',
  onIdle: 'one stop|destroy',
  onExpire: 'one keep_changes|stop|destroy',
  network: 'object',
  secrets: 'objects',
  'createSandbox.rules': 'object',
  readOnlyPaths: 'strings',
  validateOnly: 'boolean',
  as: 'one agent|owner',
  status: 'converted',
  removeLabels: 'strings',
  clearLabels: 'boolean',
  removeEnv: 'strings',
  clearEnv: 'boolean',
  discard: 'boolean',
  'exec.stdin': 'text',
  stdinBytes: 'bytes',
  yieldAfter: 'converted',
  keepalive: 'boolean',
  maxOutput: 'integer 0',
  'execStream.stdin': 'text',
  'sessionExec.command': 'string',
  'sessionExecStream.command': 'string',
  'updatePermissions.rules': 'object',
  paths: 'strings',
  exclude: 'strings',
  includeScratch: 'boolean',
  diff: 'boolean',
  local: 'boolean',
  'exportChanges.format': 'one patch|tar',
  onConflict: 'one ours|theirs',
  dryRun: 'boolean',
  hunks: 'objects',
  count: 'integer 1 100',
  'fork.rules': 'object',
  parents: 'boolean',
  replace: 'boolean',
  hosts: 'strings',
  parts: 'strings',
  keepLength: 'boolean',
  force: 'boolean',
};

/** How each operation is called over HTTP. */
export const operations = {
  createCodebase: { method: 'POST', path: '/v1/codebases', kind: 'unary', retry: 'key', fields: 'name! ownerId' },
  getCodebase: { method: 'GET', path: '/v1/codebases/{codebaseId}', kind: 'unary', retry: 'read', fields: 'codebaseId!' },
  listCodebases: { method: 'GET', path: '/v1/codebases', kind: 'unary', retry: 'read', fields: 'ownerId', list: 'codebases', pages: true },
  deleteCodebase: { method: 'DELETE', path: '/v1/codebases/{codebaseId}', kind: 'unary', retry: 'same', fields: 'codebaseId!', empty: true },
  uploadFile: { method: 'PUT', path: '/v1/codebases/{codebaseId}/files/{filePath+}', kind: 'raw', retry: 'same', fields: 'codebaseId! filePath! mode symlinkTarget' },
  downloadFile: { method: 'GET', path: '/v1/codebases/{codebaseId}/files/{filePath+}', kind: 'download', retry: 'read', fields: 'codebaseId! filePath!' },
  listFiles: { method: 'GET', path: '/v1/codebases/{codebaseId}/files', kind: 'unary', retry: 'read', fields: 'codebaseId! path recursive', list: 'files', pages: true },
  removeFile: { method: 'DELETE', path: '/v1/codebases/{codebaseId}/files/{filePath+}', kind: 'unary', retry: 'same', fields: 'codebaseId! filePath!', empty: true },
  importCodebaseFiles: { method: 'PUT', path: '/v1/codebases/{codebaseId}/files', kind: 'raw', retry: 'same', fields: 'codebaseId! mode format ifRevision' },
  exportCodebaseFiles: { method: 'GET', path: '/v1/codebases/{codebaseId}/files', kind: 'bytes', retry: 'read', fields: 'codebaseId! path format', query: 'format' },
  importImage: { method: 'PUT', path: '/v1/images/{name+}', kind: 'raw', retry: 'same', fields: 'name!' },
  getImage: { method: 'GET', path: '/v1/images/{image+}', kind: 'unary', retry: 'read', fields: 'image!' },
  listImages: { method: 'GET', path: '/v1/images', kind: 'unary', retry: 'read', fields: '', list: 'images', pages: true },
  deleteImage: { method: 'DELETE', path: '/v1/images/{image+}', kind: 'unary', retry: 'same', fields: 'image!', empty: true },
  createKey: { method: 'POST', path: '/v1/keys', kind: 'unary', retry: 'key', fields: 'name! role! ownerId sandboxId scopes expiresIn' },
  listKeys: { method: 'GET', path: '/v1/keys', kind: 'unary', retry: 'read', fields: 'ownerId', list: 'keys', pages: true },
  revokeKey: { method: 'DELETE', path: '/v1/keys/{keyId}', kind: 'unary', retry: 'same', fields: 'keyId!', empty: true },
  getCaller: { method: 'GET', path: '/v1/caller', kind: 'unary', retry: 'read', fields: '' },
  createTicket: { method: 'POST', path: '/v1/tickets', kind: 'unary', retry: 'again', fields: 'path!' },
  getNetwork: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/network', kind: 'unary', retry: 'read', fields: 'sandboxId!' },
  updateNetwork: { method: 'PUT', path: '/v1/sandboxes/{sandboxId}/network', kind: 'unary', retry: 'same', fields: 'sandboxId! mode! rules presets revision' },
  explainNetwork: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/network/explain', kind: 'unary', retry: 'read', fields: 'sandboxId! host! port method path' },
  listConnections: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/network/connections', kind: 'unary', retry: 'read', fields: 'sandboxId!', list: 'connections', pages: true },
  watchNetwork: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/network/events', kind: 'events', retry: 'read', fields: 'sandboxId! after deniedOnly', cursor: 'after', position: 'sequence' },
  listNetworkPresets: { method: 'GET', path: '/v1/network-presets', kind: 'unary', retry: 'read', fields: '', list: 'presets' },
  setOwnerLimits: { method: 'PUT', path: '/v1/owners/{ownerId}/limits', kind: 'unary', retry: 'same', fields: 'ownerId! limits' },
  getOwnerLimits: { method: 'GET', path: '/v1/owners/{ownerId}/limits', kind: 'unary', retry: 'read', fields: 'ownerId!' },
  openPort: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/ports', kind: 'unary', retry: 'again', fields: 'sandboxId! port! access expiresIn' },
  listPorts: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/ports', kind: 'unary', retry: 'read', fields: 'sandboxId! opened listening', query: 'opened' },
  getPort: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/ports/{port}', kind: 'unary', retry: 'read', fields: 'sandboxId! port!' },
  closePort: { method: 'DELETE', path: '/v1/sandboxes/{sandboxId}/ports/{port}', kind: 'unary', retry: 'same', fields: 'sandboxId! port!', empty: true },
  startProcess: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/processes', kind: 'unary', retry: 'again', fields: 'sandboxId! processId command!argv argv env workdir stdin terminal timeout labels shell merge' },
  getProcess: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/processes/{processId}', kind: 'unary', retry: 'read', fields: 'sandboxId! processId!' },
  listProcesses: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/processes', kind: 'unary', retry: 'read', fields: 'sandboxId! labels running', list: 'processes', pages: true },
  deleteProcess: { method: 'DELETE', path: '/v1/sandboxes/{sandboxId}/processes/{processId}', kind: 'unary', retry: 'same', fields: 'sandboxId! processId!', empty: true },
  signalProcess: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/signal', kind: 'unary', retry: 'again', fields: 'sandboxId! processId! signal!' },
  resizeTerminal: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/resize', kind: 'unary', retry: 'same', fields: 'sandboxId! processId! columns! rows!', empty: true },
  readProcessOutput: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/output', kind: 'unary', retry: 'read', fields: 'sandboxId! processId! offset maxBytes wait' },
  watchProcess: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/events', kind: 'events', retry: 'read', fields: 'sandboxId! processId! offset', cursor: 'offset', position: 'next' },
  writeProcessInput: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/input', kind: 'raw', retry: 'again', fields: 'sandboxId! processId! offset end' },
  waitPort: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/ports', kind: 'unary', retry: 'read', fields: 'sandboxId! port wait listening' },
  attachProcess: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/processes/{processId}/attach', kind: 'attach', retry: 'again', fields: 'sandboxId! processId! offset takeover stdin endStdin resize signal' },
  createSandbox: { method: 'POST', path: '/v1/sandboxes', kind: 'unary', retry: 'key', fields: 'codebaseId! permissions labels expiresIn runtime image resources preset autoCommit idleTimeout onIdle shell env workdir onExpire network secrets rules readOnlyPaths workspacePath validateOnly' },
  getSandbox: { method: 'GET', path: '/v1/sandboxes/{sandboxId}', kind: 'unary', retry: 'read', fields: 'sandboxId! as' },
  listSandboxes: { method: 'GET', path: '/v1/sandboxes', kind: 'unary', retry: 'read', fields: 'codebaseId ownerId status labels', list: 'sandboxes', pages: true },
  updateSandbox: { method: 'PATCH', path: '/v1/sandboxes/{sandboxId}', kind: 'unary', retry: 'again', fields: 'sandboxId! labels removeLabels clearLabels expiresIn idleTimeout onIdle env removeEnv clearEnv shell workdir onExpire' },
  startSandbox: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/start', kind: 'unary', retry: 'same', fields: 'sandboxId!' },
  stopSandbox: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/stop', kind: 'unary', retry: 'same', fields: 'sandboxId!' },
  destroySandbox: { method: 'DELETE', path: '/v1/sandboxes/{sandboxId}', kind: 'unary', retry: 'same', fields: 'sandboxId! discard', empty: true },
  exec: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/exec', kind: 'unary', retry: 'again', fields: 'sandboxId! command!argv stdin env workdir timeout argv stdinBytes yieldAfter keepalive shell maxOutput merge' },
  execStream: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/exec/stream', kind: 'events', retry: 'again', fields: 'sandboxId! command!argv stdin env workdir timeout argv stdinBytes yieldAfter keepalive shell maxOutput merge' },
  createSession: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/sessions', kind: 'unary', retry: 'again', fields: 'sandboxId! shell env' },
  getSession: { method: 'GET', path: '/v1/sessions/{sessionId}', kind: 'unary', retry: 'read', fields: 'sessionId!' },
  listSessions: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/sessions', kind: 'unary', retry: 'read', fields: 'sandboxId!', list: 'sessions', pages: true },
  destroySession: { method: 'DELETE', path: '/v1/sessions/{sessionId}', kind: 'unary', retry: 'same', fields: 'sessionId!', empty: true },
  sessionExec: { method: 'POST', path: '/v1/sessions/{sessionId}/exec', kind: 'unary', retry: 'again', fields: 'sessionId! command! timeout maxOutput merge keepalive' },
  sessionExecStream: { method: 'POST', path: '/v1/sessions/{sessionId}/exec/stream', kind: 'events', retry: 'again', fields: 'sessionId! command! timeout maxOutput merge keepalive' },
  updatePermissions: { method: 'PUT', path: '/v1/sandboxes/{sandboxId}/permissions', kind: 'unary', retry: 'same', fields: 'sandboxId! permissions preset rules' },
  explainPermission: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/permissions/explain', kind: 'unary', retry: 'read', fields: 'sandboxId! path as' },
  listRefusals: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/permissions/refusals', kind: 'unary', retry: 'read', fields: 'sandboxId!', list: 'refusals' },
  listPresets: { method: 'GET', path: '/v1/presets', kind: 'unary', retry: 'read', fields: '', list: 'presets' },
  listChanges: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/changes', kind: 'unary', retry: 'read', fields: 'sandboxId! as paths exclude includeScratch diff local', list: 'changes', pages: true },
  exportChanges: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/changes', kind: 'bytes', retry: 'read', fields: 'sandboxId! format! as paths exclude includeScratch', query: 'format' },
  commit: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/commit', kind: 'unary', retry: 'key', fields: 'sandboxId! paths onConflict dryRun exclude includeScratch hunks' },
  discard: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/discard', kind: 'unary', retry: 'again', fields: 'sandboxId! paths exclude includeScratch' },
  createCheckpoint: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/checkpoints', kind: 'unary', retry: 'key', fields: 'sandboxId! name!' },
  listCheckpoints: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/checkpoints', kind: 'unary', retry: 'read', fields: 'sandboxId!', list: 'checkpoints' },
  deleteCheckpoint: { method: 'DELETE', path: '/v1/sandboxes/{sandboxId}/checkpoints/{name}', kind: 'unary', retry: 'same', fields: 'sandboxId! name!', empty: true },
  rollback: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/rollback', kind: 'unary', retry: 'again', fields: 'sandboxId! checkpoint!' },
  fork: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/fork', kind: 'unary', retry: 'key', fields: 'sandboxId! count checkpoint permissions preset labels expiresIn resources autoCommit idleTimeout onIdle shell env workdir onExpire network secrets rules' },
  statFile: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/stat', kind: 'unary', retry: 'read', fields: 'sandboxId! as path' },
  previewFile: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/preview', kind: 'unary', retry: 'read', fields: 'sandboxId! path!' },
  listDirectory: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/files', kind: 'unary', retry: 'read', fields: 'sandboxId! as path recursive', list: 'files', pages: true },
  readFile: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/files/{path+}', kind: 'download', retry: 'read', fields: 'sandboxId! as path!' },
  writeFile: { method: 'PUT', path: '/v1/sandboxes/{sandboxId}/files/{path+}', kind: 'raw', retry: 'same', fields: 'sandboxId! as path! mode' },
  makeDirectory: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/mkdir', kind: 'unary', retry: 'same', fields: 'sandboxId! as path! mode parents' },
  moveFile: { method: 'POST', path: '/v1/sandboxes/{sandboxId}/move', kind: 'unary', retry: 'again', fields: 'sandboxId! as from! to! replace' },
  deleteFile: { method: 'DELETE', path: '/v1/sandboxes/{sandboxId}/files/{path+}', kind: 'unary', retry: 'same', fields: 'sandboxId! as path! recursive' },
  exportFiles: { method: 'GET', path: '/v1/sandboxes/{sandboxId}/files', kind: 'bytes', retry: 'read', fields: 'sandboxId! as path format', query: 'format' },
  importFiles: { method: 'PUT', path: '/v1/sandboxes/{sandboxId}/files', kind: 'raw', retry: 'same', fields: 'sandboxId! as path format' },
  putSecret: { method: 'PUT', path: '/v1/secrets/{name}', kind: 'unary', retry: 'same', fields: 'name! ownerId value! hosts! parts shape keepLength header' },
  getSecret: { method: 'GET', path: '/v1/secrets/{name}', kind: 'unary', retry: 'read', fields: 'name! ownerId' },
  listSecrets: { method: 'GET', path: '/v1/secrets', kind: 'unary', retry: 'read', fields: 'ownerId', list: 'secrets', pages: true },
  deleteSecret: { method: 'DELETE', path: '/v1/secrets/{name}', kind: 'unary', retry: 'same', fields: 'name! ownerId force', empty: true },
  health: { method: 'GET', path: '/health', kind: 'unary', retry: 'read', fields: '' },
} as const;

/** One method for each operation of the service. */
export interface Operations {
  /** Creates an empty codebase. */
  createCodebase(request: CreateCodebaseRequest, options?: CallOptions): Promise<Codebase>;
  /** Returns one codebase with its file count and total size. */
  getCodebase(request: GetCodebaseRequest, options?: CallOptions): Promise<Codebase>;
  /** Lists codebases, the newest first, page by page. */
  listCodebases(request?: ListCodebasesRequest, options?: CallOptions): AsyncGenerator<Codebase, void, void>;
  /** Deletes a codebase and its files. FAILED_PRECONDITION, listing the sandboxes, while sandboxes use it. */
  deleteCodebase(request: DeleteCodebaseRequest, options?: CallOptions): Promise<void>;
  /**
   * Stores one file. The first message names the codebase and the path and may carry a chunk; later messages carry
   * chunks. The file is stored completely or not at all.
   */
  uploadFile(request: UploadFileRequest, body: Body, options?: CallOptions): Promise<UploadFileResponse>;
  /** Returns the contents of one version of a file. */
  downloadFile(request: DownloadFileRequest, options?: CallOptions): Promise<Response>;
  /** Lists files and directories in byte order of their paths, page by page. */
  listFiles(request: ListFilesRequest, options?: CallOptions): AsyncGenerator<FileInfo, void, void>;
  /** Removes one file. Directories that it leaves empty stay. */
  removeFile(request: RemoveFileRequest, options?: CallOptions): Promise<void>;
  /**
   * Unpacks an archive into the codebase, all or nothing. The first message names the codebase and the mode and may
   * carry a chunk; later messages carry chunks. The archive is a tar (POSIX or GNU), plain or compressed with gzip or
   * zstd, found by its first bytes. Permission bits, times, symlinks and hard links are kept.
   */
  importCodebaseFiles(request: ImportCodebaseFilesRequest, body: Body, options?: CallOptions): Promise<ImportCodebaseFilesResponse>;
  /** Returns a directory of the codebase as one archive. */
  exportCodebaseFiles(request: ExportCodebaseFilesRequest, options?: CallOptions): Promise<Response>;
  /**
   * Stores an image from an archive: a tar of a file system, an OCI image layout, or what "docker save" writes; plain or
   * compressed with gzip or zstd. The first message gives the name and may carry a chunk; later messages carry chunks. All or
   * nothing. Importing an image again only adds the name. A name of another image becomes this one's.
   */
  importImage(request: ImportImageRequest, body: Body, options?: CallOptions): Promise<Image>;
  /** Returns one image. */
  getImage(request: GetImageRequest, options?: CallOptions): Promise<Image>;
  /** Lists images by id, page by page. */
  listImages(request?: Record<string, never>, options?: CallOptions): AsyncGenerator<Image, void, void>;
  /** Deletes an image with all its names. FAILED_PRECONDITION, listing the sandboxes, while sandboxes use it. */
  deleteImage(request: DeleteImageRequest, options?: CallOptions): Promise<void>;
  /**
   * Creates a key. The answer is the only one that has the key itself. A key cannot create one that may do more than
   * itself. FAILED_PRECONDITION if authentication is off.
   */
  createKey(request: CreateKeyRequest, options?: CallOptions): Promise<CreatedKey>;
  /** Lists keys in order of their identifiers, page by page. */
  listKeys(request?: ListKeysRequest, options?: CallOptions): AsyncGenerator<Key, void, void>;
  /** Revokes a key. Calls that are in progress with it end with UNAUTHENTICATED. */
  revokeKey(request: RevokeKeyRequest, options?: CallOptions): Promise<void>;
  /** Returns the rights of the caller itself. */
  getCaller(request?: Record<string, never>, options?: CallOptions): Promise<Caller>;
  /**
   * Creates a ticket for one GET request over REST that reads a file or a stream, for clients that cannot send headers, as
   * `?ticket=`. It has the rights of the caller's key. FAILED_PRECONDITION if authentication is off.
   */
  createTicket(request: CreateTicketRequest, options?: CallOptions): Promise<Ticket>;
  /** Returns the policy of a sandbox. */
  getNetwork(request: GetNetworkRequest, options?: CallOptions): Promise<NetworkPolicy>;
  /**
   * Replaces the policy of a sandbox, which may be running. In force when the call returns: connections that are no longer
   * allowed have been cut. ABORTED if `revision` is not the policy's.
   */
  updateNetwork(request: UpdateNetworkRequest, options?: CallOptions): Promise<NetworkPolicy>;
  /** Tells whether a connection would be allowed, and what decides it. Nothing is connected to, and no name is resolved. */
  explainNetwork(request: ExplainNetworkRequest, options?: CallOptions): Promise<NetworkExplanation>;
  /**
   * Lists the open and the last closed connections of a running sandbox, and what was refused: connections, requests and
   * names. The newest first, page by page.
   */
  listConnections(request: ListConnectionsRequest, options?: CallOptions): AsyncGenerator<Connection, void, void>;
  /**
   * Sends the kept events of the network of a running sandbox, at most 1,000, and then each one as it happens: connections
   * that are opened or end, and refusals. The last event carries `end`: the network was closed, by the policy or because the
   * sandbox does not run. RESOURCE_EXHAUSTED with more than 16 watches of a sandbox. A watch is no use of the sandbox.
   */
  watchNetwork(request: WatchNetworkRequest, options?: CallOptions): AsyncGenerator<NetworkEvent, void, void>;
  /** Lists the presets: named sets of rules for `presets` of a policy. */
  listNetworkPresets(request?: Record<string, never>, options?: CallOptions): AsyncGenerator<NetworkPreset, void, void>;
  /**
   * Replaces the limits of an owner that differ from the configured ones. In force at once for calls and for what is
   * created or stored from then on; memory_bytes and cpu_quota from the next start of one of the owner's sandboxes on.
   * Admins only. FAILED_PRECONDITION if authentication is off.
   */
  setOwnerLimits(request: SetOwnerLimitsRequest, options?: CallOptions): Promise<OwnerSettings>;
  /** Returns the limits of an owner: to admins, and to the owner itself. */
  getOwnerLimits(request: GetOwnerLimitsRequest, options?: CallOptions): Promise<OwnerSettings>;
  /**
   * Opens a port of a sandbox. If it is open already, this replaces how: the link token of before is not valid any more, and
   * its connections are cut. Durable when the call resolves. RESOURCE_EXHAUSTED if the sandbox has 64 open ports.
   */
  openPort(request: OpenPortRequest, options?: CallOptions): Promise<OpenPortResponse>;
  /** Lists the opened ports of a sandbox, in the order of their numbers. */
  listPorts(request: ListPortsRequest, options?: CallOptions): Promise<ListPortsResponse>;
  /** Returns an opened port. NOT_FOUND for one that is not open. */
  getPort(request: GetPortRequest, options?: CallOptions): Promise<OpenedPort>;
  /** Closes a port: its link token is not valid any more, and its connections are cut. NOT_FOUND for one that is not open. */
  closePort(request: ClosePortRequest, options?: CallOptions): Promise<void>;
  /**
   * Starts a process. In the answer it runs. With a `process_id` that the sandbox has already: returns that process and
   * starts nothing, if the request is the same; otherwise ALREADY_EXISTS.
   */
  startProcess(request: StartProcessRequest, options?: CallOptions): Promise<Process>;
  /** Returns one process. */
  getProcess(request: GetProcessRequest, options?: CallOptions): Promise<Process>;
  /**
   * Lists the processes of a sandbox, the newest first, page by page. Those that have ended are listed until they are
   * deleted, or the server's retention time is over.
   */
  listProcesses(request: ListProcessesRequest, options?: CallOptions): AsyncGenerator<Process, void, void>;
  /** Ends a process and all processes that it started, in the background, too, and deletes its output. */
  deleteProcess(request: DeleteProcessRequest, options?: CallOptions): Promise<void>;
  /** Sends a signal to the process and to every process that it started. Succeeds and changes nothing if it has ended. */
  signalProcess(request: SignalProcessRequest, options?: CallOptions): Promise<Process>;
  /** Changes the size of a process's terminal. FAILED_PRECONDITION if it has none. */
  resizeTerminal(request: ResizeTerminalRequest, options?: CallOptions): Promise<void>;
  /** Returns kept output from an offset on, with the end of the process once all of its output was returned. */
  readProcessOutput(request: ReadProcessOutputRequest, options?: CallOptions): Promise<ReadProcessOutputResponse>;
  /**
   * Sends kept output from an offset on, and further output as it is written. The last event carries `end`. A reader
   * that leaves does not affect the process.
   */
  watchProcess(request: WatchProcessRequest, options?: CallOptions): AsyncGenerator<ProcessEvent, void, void>;
  /**
   * Writes to the standard input or the terminal of a process, at the pace at which it reads. The first message names the
   * process and may carry a chunk; later messages carry chunks.
   */
  writeProcessInput(request: WriteProcessInputRequest, body: Body, options?: CallOptions): Promise<WriteProcessInputResponse>;
  /** Returns the TCP ports on which programs of the sandbox listen; waits for one on request. */
  waitPort(request: WaitPortRequest, options?: CallOptions): Promise<WaitPortResponse>;
  /** Creates a sandbox. In the answer it is "running" and accepts Exec at once. */
  createSandbox(request: CreateSandboxRequest, options?: CallOptions): Promise<Sandbox>;
  /** Returns one sandbox. */
  getSandbox(request: GetSandboxRequest, options?: CallOptions): Promise<Sandbox>;
  /** Lists sandboxes, the newest first, page by page. */
  listSandboxes(request?: ListSandboxesRequest, options?: CallOptions): AsyncGenerator<Sandbox, void, void>;
  /**
   * Changes labels, lifetime, idle policy, shell, environment and working directory of a sandbox, in every state: what the
   * request names, all or nothing. FAILED_PRECONDITION if the sandbox has expired, unless `on_expire` keeps it: a new
   * expires_in then ends its expiry, and StartSandbox starts it. Over REST the body is a JSON merge patch (RFC 7396).
   */
  updateSandbox(request: UpdateSandboxRequest, options?: CallOptions): Promise<Sandbox>;
  /** Starts a sandbox that is "stopped" or "error". Succeeds and changes nothing if it is running. */
  startSandbox(request: StartSandboxRequest, options?: CallOptions): Promise<Sandbox>;
  /** Ends every process in the sandbox and keeps its files. Succeeds and changes nothing if it is stopped. */
  stopSandbox(request: StopSandboxRequest, options?: CallOptions): Promise<Sandbox>;
  /**
   * Removes a sandbox and its uncommitted changes, from every state. With auto_commit the changes are committed first;
   * if that fails, the answer is FAILED_PRECONDITION, and the sandbox is stopped and kept.
   */
  destroySandbox(request: DestroySandboxRequest, options?: CallOptions): Promise<void>;
  /**
   * Runs one command until it exits. An exit code other than 0 is a result, not an error. Over gRPC an answer has at most
   * 4 MiB, or as much as the metadata `x-max-answer-bytes` says, and output above that is cut. ExecStream sends all output.
   */
  exec(request: ExecRequest, options?: CallOptions): Promise<ExecResponse>;
  /** Runs one command and sends its output as it is written. Exactly one last chunk carries exit_code and no data. */
  execStream(request: ExecRequest, options?: CallOptions): AsyncGenerator<ExecStreamChunk, void, void>;
  /**
   * Starts a shell in the sandbox that keeps its directory, variables, functions, options and background processes between
   * the commands that SessionExec gives it. FAILED_PRECONDITION if the sandbox has no such shell, RESOURCE_EXHAUSTED above
   * limits.sessions. A session ends with its shell, and when its sandbox is stopped, destroyed, rolled back or fails. It
   * does not outlive the server.
   */
  createSession(request: CreateSessionRequest, options?: CallOptions): Promise<Session>;
  /** Returns one session. One that has ended is known for an hour. */
  getSession(request: GetSessionRequest, options?: CallOptions): Promise<Session>;
  /** Lists the sessions of a sandbox, the newest first, page by page. */
  listSessions(request: ListSessionsRequest, options?: CallOptions): AsyncGenerator<Session, void, void>;
  /** Kills the shell of a session and everything that was started in it, and forgets the session. */
  destroySession(request: DestroySessionRequest, options?: CallOptions): Promise<void>;
  /**
   * Runs one command in the shell of a session, after those that were sent before. If it ends the shell (`exit`, `exec`,
   * `set -e`), the exit code is the shell's and `session_ended` is true; later commands are FAILED_PRECONDITION. A timeout,
   * or a client that disconnects, kills everything in the session; the next command gets a new shell, and its answer has
   * `session_reset`.
   */
  sessionExec(request: SessionExecRequest, options?: CallOptions): Promise<ExecResponse>;
  /** Like SessionExec, and sends the output as it is written. Exactly one last chunk carries exit_code and no data. */
  sessionExecStream(request: SessionExecRequest, options?: CallOptions): AsyncGenerator<ExecStreamChunk, void, void>;
  /**
   * Replaces the rules of a sandbox, which may be running. From the answer on every operation obeys the new rules,
   * including operations on open descriptors and mapped pages.
   */
  updatePermissions(request: UpdatePermissionsRequest, options?: CallOptions): Promise<Sandbox>;
  /** Returns the permission of a path and the rules that decide it. The path need not exist. */
  explainPermission(request: ExplainPermissionRequest, options?: CallOptions): Promise<PermissionExplanation>;
  /** Lists the paths at which the rules refused what the commands of a running sandbox tried since its start, the first 256. */
  listRefusals(request: ListRefusalsRequest, options?: CallOptions): AsyncGenerator<RefusedPath, void, void>;
  /** Lists the presets: named sets of rules for CreateSandbox and UpdatePermissions. */
  listPresets(request?: Record<string, never>, options?: CallOptions): AsyncGenerator<Preset, void, void>;
  /** Lists the paths at which the sandbox differs from its codebase, in byte order, page by page. */
  listChanges(request: ListChangesRequest, options?: CallOptions): AsyncGenerator<FileChange, void, void>;
  /** Returns all changes as one stream of bytes. */
  exportChanges(request: ExportChangesRequest, options?: CallOptions): Promise<Response>;
  /**
   * Moves changes into the codebase, all or nothing. Commands in the sandbox continue, with their open files. ABORTED,
   * with the paths in the details, if the codebase's version is no longer the one that the sandbox started from.
   */
  commit(request: CommitRequest, options?: CallOptions): Promise<CommitResponse>;
  /** Drops changes, all or nothing: the paths show the codebase's version again, also through open files. */
  discard(request: DiscardRequest, options?: CallOptions): Promise<DiscardResponse>;
  /** Saves the present state of a sandbox, which may be running, under a name. A checkpoint is removed with its sandbox. */
  createCheckpoint(request: CreateCheckpointRequest, options?: CallOptions): Promise<Checkpoint>;
  /** Lists the checkpoints of a sandbox, oldest first. */
  listCheckpoints(request: ListCheckpointsRequest, options?: CallOptions): AsyncGenerator<Checkpoint, void, void>;
  /** Deletes one checkpoint. */
  deleteCheckpoint(request: DeleteCheckpointRequest, options?: CallOptions): Promise<void>;
  /** Returns a sandbox, which may be running, to a checkpoint, including its open files. The checkpoint is kept. */
  rollback(request: RollbackRequest, options?: CallOptions): Promise<Sandbox>;
  /** Creates sandboxes that start from the present state of this one, or from one of its checkpoints. */
  fork(request: ForkRequest, options?: CallOptions): Promise<ForkResponse>;
  /**
   * Returns the metadata of one path of the workspace. Does not follow a symlink at the path itself.
   *
   * All file operations act as the sandbox's commands (`as` "agent" or empty: rules and mode bits apply, and the sandbox
   * must be running) or as its owner ("owner": no restriction, in every state). Their changes are changes of the
   * sandbox, as if a command had made them. Symlinks are followed within the workspace only.
   */
  statFile(request: StatFileRequest, options?: CallOptions): Promise<FileStat>;
  /** Shows a file with placeholders as commands see it, and the keys whose values they do not see. */
  previewFile(request: PreviewFileRequest, options?: CallOptions): Promise<PreviewFileResponse>;
  /** Lists a directory of the workspace in byte order of the paths, page by page. */
  listDirectory(request: ListDirectoryRequest, options?: CallOptions): AsyncGenerator<FileStat, void, void>;
  /** Returns the contents of one version of a file. ABORTED if the file is written to meanwhile. */
  readFile(request: ReadFileRequest, options?: CallOptions): Promise<Response>;
  /**
   * Creates or replaces a file, completely or not at all; programs that have the old file open keep it. The first message
   * names the sandbox and the path and may carry a chunk; later messages carry chunks. Missing parent directories are
   * created.
   */
  writeFile(request: WriteFileRequest, body: Body, options?: CallOptions): Promise<FileStat>;
  /** Creates a directory. */
  makeDirectory(request: MakeDirectoryRequest, options?: CallOptions): Promise<FileStat>;
  /** Renames a file, directory or symlink. */
  moveFile(request: MoveFileRequest, options?: CallOptions): Promise<FileStat>;
  /** Removes a file, directory or symlink. */
  deleteFile(request: DeleteFileRequest, options?: CallOptions): Promise<DeleteFileResponse>;
  /** Returns the contents of a directory as one archive. */
  exportFiles(request: ExportFilesRequest, options?: CallOptions): Promise<Response>;
  /**
   * Unpacks an archive into a directory, all or nothing. The first message names the sandbox and the directory and may
   * carry a chunk; later messages carry chunks.
   */
  importFiles(request: ImportFilesRequest, body: Body, options?: CallOptions): Promise<ImportFilesResponse>;
  /**
   * Stores a secret, or replaces its value, hosts, parts, header and shape. In force for the next request of each sandbox that is
   * bound to it.
   */
  putSecret(request: PutSecretRequest, options?: CallOptions): Promise<Secret>;
  /** Returns a secret without its value. */
  getSecret(request: GetSecretRequest, options?: CallOptions): Promise<Secret>;
  /** Lists secrets without their values in order of owner and name, page by page. */
  listSecrets(request?: ListSecretsRequest, options?: CallOptions): AsyncGenerator<Secret, void, void>;
  /** Removes a secret. FAILED_PRECONDITION if a sandbox is bound to it, unless `force` is set. */
  deleteSecret(request: DeleteSecretRequest, options?: CallOptions): Promise<void>;
  /** Whether the service is up. Needs no key. */
  health(request?: Record<string, never>, options?: CallOptions): Promise<{ status: string }>;
}
