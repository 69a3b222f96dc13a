// Generated from proto/service/v1 by `npm run generate`; do not edit.
import * as messages from './messages.ts';

const { Permission, PatternType, SandboxStatus, Runtime, ChangeKind, FileType, OutputStream } = messages;

/** Values of each enum, in order of their numbers, which count from 0. */
export const enums = { Permission, PatternType, SandboxStatus, Runtime, ChangeKind, FileType, OutputStream } as const;

/** Fields of each message: name -> type. */
export const fields = {
  Codebase: {
    id: { type: 'string' },
    name: { type: 'string' },
    owner_id: { type: 'string' },
    created_at: { type: 'int64' },
    file_count: { type: 'int64' },
    total_size: { type: 'int64' },
    status_reason: { type: 'string' },
  },
  CreateCodebaseRequest: {
    name: { type: 'string' },
    owner_id: { type: 'string' },
  },
  GetCodebaseRequest: {
    codebase_id: { type: 'string' },
  },
  ListCodebasesRequest: {
    owner_id: { type: 'string' },
    page_size: { type: 'int32' },
    page_token: { type: 'string' },
  },
  ListCodebasesResponse: {
    codebases: { type: 'Codebase', repeated: true },
    next_page_token: { type: 'string' },
  },
  DeleteCodebaseRequest: {
    codebase_id: { type: 'string' },
  },
  UploadFileRequest: {
    codebase_id: { type: 'string' },
    file_path: { type: 'string' },
    chunk: { type: 'bytes' },
    mode: { type: 'uint32' },
  },
  UploadFileResponse: {
    size: { type: 'int64' },
    checksum: { type: 'string' },
  },
  DownloadFileRequest: {
    codebase_id: { type: 'string' },
    file_path: { type: 'string' },
  },
  DownloadFileResponse: {
    data: { type: 'bytes' },
  },
  ListFilesRequest: {
    codebase_id: { type: 'string' },
    path: { type: 'string' },
    recursive: { type: 'bool' },
    page_size: { type: 'int32' },
    page_token: { type: 'string' },
  },
  ListFilesResponse: {
    files: { type: 'FileInfo', repeated: true },
    next_page_token: { type: 'string' },
  },
  RemoveFileRequest: {
    codebase_id: { type: 'string' },
    file_path: { type: 'string' },
  },
  FileInfo: {
    path: { type: 'string' },
    size: { type: 'int64' },
    modified_at: { type: 'int64' },
    is_dir: { type: 'bool' },
    mode: { type: 'uint32' },
  },
  PermissionRule: {
    pattern: { type: 'string' },
    permission: { type: 'Permission' },
    type: { type: 'PatternType' },
    priority: { type: 'int32' },
  },
  ResourceLimits: {
    memory_bytes: { type: 'int64' },
    cpu_quota: { type: 'int64' },
    cpu_shares: { type: 'int64' },
    pids_limit: { type: 'int32' },
  },
  Sandbox: {
    id: { type: 'string' },
    codebase_id: { type: 'string' },
    status: { type: 'SandboxStatus' },
    permissions: { type: 'PermissionRule', repeated: true },
    labels: { type: 'string', map: true },
    created_at: { type: 'int64' },
    expires_at: { type: 'int64' },
    runtime: { type: 'Runtime' },
    image: { type: 'string' },
    resources: { type: 'ResourceLimits' },
    status_reason: { type: 'string' },
    auto_commit: { type: 'string' },
    auto_commit_error: { type: 'string' },
    auto_commit_stopped: { type: 'bool' },
  },
  CreateSandboxRequest: {
    codebase_id: { type: 'string' },
    permissions: { type: 'PermissionRule', repeated: true },
    labels: { type: 'string', map: true },
    expires_in: { type: 'int64' },
    runtime: { type: 'Runtime', optional: true },
    image: { type: 'string' },
    resources: { type: 'ResourceLimits' },
    preset: { type: 'string' },
    auto_commit: { type: 'string' },
  },
  GetSandboxRequest: {
    sandbox_id: { type: 'string' },
  },
  ListSandboxesRequest: {
    codebase_id: { type: 'string' },
    page_size: { type: 'int32' },
    page_token: { type: 'string' },
  },
  ListSandboxesResponse: {
    sandboxes: { type: 'Sandbox', repeated: true },
    next_page_token: { type: 'string' },
  },
  StartSandboxRequest: {
    sandbox_id: { type: 'string' },
  },
  StopSandboxRequest: {
    sandbox_id: { type: 'string' },
  },
  DestroySandboxRequest: {
    sandbox_id: { type: 'string' },
    discard: { type: 'bool' },
  },
  ExecRequest: {
    sandbox_id: { type: 'string' },
    command: { type: 'string' },
    stdin: { type: 'string' },
    env: { type: 'string', map: true },
    workdir: { type: 'string' },
    timeout: { type: 'int64' },
  },
  ExecResponse: {
    stdout: { type: 'string' },
    stderr: { type: 'string' },
    exit_code: { type: 'int32' },
    duration_ms: { type: 'int64' },
  },
  ExecStreamChunk: {
    data: { type: 'bytes' },
    stream: { type: 'OutputStream' },
    exit_code: { type: 'int32', optional: true },
    duration_ms: { type: 'int64' },
  },
  UpdatePermissionsRequest: {
    sandbox_id: { type: 'string' },
    permissions: { type: 'PermissionRule', repeated: true },
    preset: { type: 'string' },
  },
  ExplainPermissionRequest: {
    sandbox_id: { type: 'string' },
    path: { type: 'string' },
  },
  MatchingRule: {
    index: { type: 'int32' },
    rule: { type: 'PermissionRule' },
  },
  PermissionExplanation: {
    path: { type: 'string' },
    permission: { type: 'Permission' },
    winner: { type: 'MatchingRule' },
    beaten: { type: 'MatchingRule', repeated: true },
    pass_through: { type: 'bool' },
    reason: { type: 'string' },
  },
  Preset: {
    name: { type: 'string' },
    description: { type: 'string' },
    permissions: { type: 'PermissionRule', repeated: true },
  },
  ListPresetsRequest: {},
  ListPresetsResponse: {
    presets: { type: 'Preset', repeated: true },
  },
  ListChangesRequest: {
    sandbox_id: { type: 'string' },
    page_size: { type: 'int32' },
    page_token: { type: 'string' },
  },
  FileChange: {
    path: { type: 'string' },
    kind: { type: 'ChangeKind' },
    type: { type: 'FileType' },
    size: { type: 'int64' },
    base_size: { type: 'int64' },
    mode: { type: 'uint32' },
    base_mode: { type: 'uint32' },
    base_type: { type: 'FileType' },
    content_changed: { type: 'bool' },
    renamed_from: { type: 'string' },
    conflict: { type: 'bool' },
  },
  ListChangesResponse: {
    changes: { type: 'FileChange', repeated: true },
    next_page_token: { type: 'string' },
  },
  ExportChangesRequest: {
    sandbox_id: { type: 'string' },
    format: { type: 'string' },
  },
  ExportChangesResponse: {
    data: { type: 'bytes' },
  },
  DiscardRequest: {
    sandbox_id: { type: 'string' },
    paths: { type: 'string', repeated: true },
  },
  DiscardResponse: {
    discarded: { type: 'int64' },
  },
  CommitRequest: {
    sandbox_id: { type: 'string' },
    paths: { type: 'string', repeated: true },
    on_conflict: { type: 'string' },
    dry_run: { type: 'bool' },
  },
  CommitResponse: {
    committed: { type: 'bool' },
    count: { type: 'int64' },
    changes: { type: 'FileChange', repeated: true },
    conflicts: { type: 'string', repeated: true },
  },
  Checkpoint: {
    sandbox_id: { type: 'string' },
    name: { type: 'string' },
    created_at: { type: 'int64' },
    files: { type: 'int64' },
    bytes: { type: 'int64' },
  },
  CreateCheckpointRequest: {
    sandbox_id: { type: 'string' },
    name: { type: 'string' },
  },
  ListCheckpointsRequest: {
    sandbox_id: { type: 'string' },
  },
  ListCheckpointsResponse: {
    checkpoints: { type: 'Checkpoint', repeated: true },
  },
  DeleteCheckpointRequest: {
    sandbox_id: { type: 'string' },
    name: { type: 'string' },
  },
  RollbackRequest: {
    sandbox_id: { type: 'string' },
    checkpoint: { type: 'string' },
  },
  ForkRequest: {
    sandbox_id: { type: 'string' },
    count: { type: 'int32' },
    checkpoint: { type: 'string' },
    permissions: { type: 'PermissionRule', repeated: true },
    preset: { type: 'string' },
    labels: { type: 'string', map: true },
    expires_in: { type: 'int64' },
    resources: { type: 'ResourceLimits' },
    auto_commit: { type: 'string' },
  },
  ForkError: {
    code: { type: 'int32' },
    message: { type: 'string' },
  },
  ForkResult: {
    sandbox: { type: 'Sandbox' },
    error: { type: 'ForkError' },
  },
  ForkResponse: {
    results: { type: 'ForkResult', repeated: true },
  },
  FileStat: {
    path: { type: 'string' },
    type: { type: 'FileType' },
    size: { type: 'int64' },
    mode: { type: 'uint32' },
    modified_at: { type: 'int64' },
    target: { type: 'string' },
    permission: { type: 'Permission' },
  },
  StatFileRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
  },
  ListDirectoryRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    recursive: { type: 'bool' },
    page_size: { type: 'int32' },
    page_token: { type: 'string' },
  },
  ListDirectoryResponse: {
    files: { type: 'FileStat', repeated: true },
    next_page_token: { type: 'string' },
  },
  ReadFileRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
  },
  ReadFileResponse: {
    data: { type: 'bytes' },
  },
  WriteFileRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    chunk: { type: 'bytes' },
    mode: { type: 'uint32' },
  },
  MakeDirectoryRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    mode: { type: 'uint32' },
    parents: { type: 'bool' },
  },
  MoveFileRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    replace: { type: 'bool' },
  },
  DeleteFileRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    recursive: { type: 'bool' },
  },
  DeleteFileResponse: {
    removed: { type: 'int64' },
  },
  ExportFilesRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    format: { type: 'string' },
  },
  ExportFilesResponse: {
    data: { type: 'bytes' },
  },
  ImportFilesRequest: {
    sandbox_id: { type: 'string' },
    as: { type: 'string' },
    path: { type: 'string' },
    chunk: { type: 'bytes' },
    format: { type: 'string' },
  },
  ImportFilesResponse: {
    files: { type: 'int64' },
    directories: { type: 'int64' },
    symlinks: { type: 'int64' },
    size: { type: 'int64' },
  },
} as const;

/** Service, messages and streams of each rpc. */
export const rpcs = {
  CreateCodebase: { service: 'CodebaseService', request: 'CreateCodebaseRequest', response: 'Codebase', requestStream: false, responseStream: false },
  GetCodebase: { service: 'CodebaseService', request: 'GetCodebaseRequest', response: 'Codebase', requestStream: false, responseStream: false },
  ListCodebases: { service: 'CodebaseService', request: 'ListCodebasesRequest', response: 'ListCodebasesResponse', requestStream: false, responseStream: false },
  DeleteCodebase: { service: 'CodebaseService', request: 'DeleteCodebaseRequest', response: 'Empty', requestStream: false, responseStream: false },
  UploadFile: { service: 'CodebaseService', request: 'UploadFileRequest', response: 'UploadFileResponse', requestStream: true, responseStream: false },
  DownloadFile: { service: 'CodebaseService', request: 'DownloadFileRequest', response: 'DownloadFileResponse', requestStream: false, responseStream: true },
  ListFiles: { service: 'CodebaseService', request: 'ListFilesRequest', response: 'ListFilesResponse', requestStream: false, responseStream: false },
  RemoveFile: { service: 'CodebaseService', request: 'RemoveFileRequest', response: 'Empty', requestStream: false, responseStream: false },
  CreateSandbox: { service: 'SandboxService', request: 'CreateSandboxRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  GetSandbox: { service: 'SandboxService', request: 'GetSandboxRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  ListSandboxes: { service: 'SandboxService', request: 'ListSandboxesRequest', response: 'ListSandboxesResponse', requestStream: false, responseStream: false },
  StartSandbox: { service: 'SandboxService', request: 'StartSandboxRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  StopSandbox: { service: 'SandboxService', request: 'StopSandboxRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  DestroySandbox: { service: 'SandboxService', request: 'DestroySandboxRequest', response: 'Empty', requestStream: false, responseStream: false },
  Exec: { service: 'SandboxService', request: 'ExecRequest', response: 'ExecResponse', requestStream: false, responseStream: false },
  ExecStream: { service: 'SandboxService', request: 'ExecRequest', response: 'ExecStreamChunk', requestStream: false, responseStream: true },
  UpdatePermissions: { service: 'SandboxService', request: 'UpdatePermissionsRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  ExplainPermission: { service: 'SandboxService', request: 'ExplainPermissionRequest', response: 'PermissionExplanation', requestStream: false, responseStream: false },
  ListPresets: { service: 'SandboxService', request: 'ListPresetsRequest', response: 'ListPresetsResponse', requestStream: false, responseStream: false },
  ListChanges: { service: 'SandboxService', request: 'ListChangesRequest', response: 'ListChangesResponse', requestStream: false, responseStream: false },
  ExportChanges: { service: 'SandboxService', request: 'ExportChangesRequest', response: 'ExportChangesResponse', requestStream: false, responseStream: true },
  Commit: { service: 'SandboxService', request: 'CommitRequest', response: 'CommitResponse', requestStream: false, responseStream: false },
  Discard: { service: 'SandboxService', request: 'DiscardRequest', response: 'DiscardResponse', requestStream: false, responseStream: false },
  CreateCheckpoint: { service: 'SandboxService', request: 'CreateCheckpointRequest', response: 'Checkpoint', requestStream: false, responseStream: false },
  ListCheckpoints: { service: 'SandboxService', request: 'ListCheckpointsRequest', response: 'ListCheckpointsResponse', requestStream: false, responseStream: false },
  DeleteCheckpoint: { service: 'SandboxService', request: 'DeleteCheckpointRequest', response: 'Empty', requestStream: false, responseStream: false },
  Rollback: { service: 'SandboxService', request: 'RollbackRequest', response: 'Sandbox', requestStream: false, responseStream: false },
  Fork: { service: 'SandboxService', request: 'ForkRequest', response: 'ForkResponse', requestStream: false, responseStream: false },
  StatFile: { service: 'SandboxService', request: 'StatFileRequest', response: 'FileStat', requestStream: false, responseStream: false },
  ListDirectory: { service: 'SandboxService', request: 'ListDirectoryRequest', response: 'ListDirectoryResponse', requestStream: false, responseStream: false },
  ReadFile: { service: 'SandboxService', request: 'ReadFileRequest', response: 'ReadFileResponse', requestStream: false, responseStream: true },
  WriteFile: { service: 'SandboxService', request: 'WriteFileRequest', response: 'FileStat', requestStream: true, responseStream: false },
  MakeDirectory: { service: 'SandboxService', request: 'MakeDirectoryRequest', response: 'FileStat', requestStream: false, responseStream: false },
  MoveFile: { service: 'SandboxService', request: 'MoveFileRequest', response: 'FileStat', requestStream: false, responseStream: false },
  DeleteFile: { service: 'SandboxService', request: 'DeleteFileRequest', response: 'DeleteFileResponse', requestStream: false, responseStream: false },
  ExportFiles: { service: 'SandboxService', request: 'ExportFilesRequest', response: 'ExportFilesResponse', requestStream: false, responseStream: true },
  ImportFiles: { service: 'SandboxService', request: 'ImportFilesRequest', response: 'ImportFilesResponse', requestStream: true, responseStream: false },
} as const;
