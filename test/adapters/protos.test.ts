import { describe, expect, it } from 'vitest';
import codebase from '../../proto/service/v1/codebase.proto';
import sandbox from '../../proto/service/v1/sandbox.proto';

interface Definition {
  fields?: Record<string, { id: number; type: string; rule?: string; keyType?: string; options?: object }>;
  values?: Record<string, number>;
}

const definitions = [sandbox, codebase].reduce<Record<string, Definition>>((all, { json }) => {
  const { nested } = (json as { nested: { service: { nested: { v1: { nested: Record<string, Definition> } } } } })
    .nested.service.nested.v1;
  return Object.assign(all, nested);
}, {});

/** `name number`, with the type of each field. */
function told(name: string): string {
  const { fields, values } = definitions[name]!;
  if (values)
    return Object.entries(values)
      .map((each) => each.join(' '))
      .join(', ');
  return Object.entries(fields ?? {})
    .map(([field, { id, type, rule, keyType, options }]) => {
      const optional = options && 'proto3_optional' in options ? 'optional ' : '';
      return `${optional}${rule ? `${rule} ` : ''}${keyType ? `map<${keyType}, ${type}>` : type} ${field} ${id}`;
    })
    .join(', ');
}

/** In clients' hands: a change of any of these breaks them. */
const CONTRACT: Record<string, string> = {
  Permission: 'PERMISSION_NONE 0, PERMISSION_VIEW 1, PERMISSION_READ 2, PERMISSION_WRITE 3',
  PatternType: 'PATTERN_GLOB 0, PATTERN_DIRECTORY 1, PATTERN_FILE 2',
  SandboxStatus: 'SANDBOX_PENDING 0, SANDBOX_RUNNING 1, SANDBOX_STOPPED 2, SANDBOX_ERROR 3',
  Runtime: 'RUNTIME_BWRAP 0, RUNTIME_DOCKER 1, RUNTIME_MOCK 2',
  OutputStream: 'STDOUT 0, STDERR 1',
  PermissionRule: 'string pattern 1, Permission permission 2, PatternType type 3, int32 priority 4',
  ResourceLimits: 'int64 memory_bytes 1, int64 cpu_quota 2, int64 cpu_shares 3, int32 pids_limit 4',
  Sandbox:
    'string id 1, string codebase_id 2, SandboxStatus status 3, repeated PermissionRule permissions 4, ' +
    'map<string, string> labels 5, int64 created_at 6, int64 expires_at 7, Runtime runtime 8, string image 9, ' +
    'ResourceLimits resources 10, string status_reason 11, string auto_commit 12, string auto_commit_error 13, ' +
    'bool auto_commit_stopped 14',
  CreateSandboxRequest:
    'string codebase_id 1, repeated PermissionRule permissions 2, map<string, string> labels 3, int64 expires_in 4, ' +
    'optional Runtime runtime 5, string image 6, ResourceLimits resources 7, string preset 8, string auto_commit 9',
  GetSandboxRequest: 'string sandbox_id 1',
  StartSandboxRequest: 'string sandbox_id 1',
  StopSandboxRequest: 'string sandbox_id 1',
  DestroySandboxRequest: 'string sandbox_id 1, bool discard 2',
  ListSandboxesRequest: 'string codebase_id 1, int32 page_size 2, string page_token 3',
  ListSandboxesResponse: 'repeated Sandbox sandboxes 1, string next_page_token 2',
  ExecRequest:
    'string sandbox_id 1, string command 2, string stdin 3, map<string, string> env 4, string workdir 5, int64 timeout 6',
  ExecResponse: 'string stdout 1, string stderr 2, int32 exit_code 3, int64 duration_ms 4',
  ExecStreamChunk: 'bytes data 1, OutputStream stream 2, optional int32 exit_code 3, int64 duration_ms 4',
  UpdatePermissionsRequest: 'string sandbox_id 1, repeated PermissionRule permissions 2, string preset 3',
  ExplainPermissionRequest: 'string sandbox_id 1, string path 2',
  MatchingRule: 'int32 index 1, PermissionRule rule 2',
  PermissionExplanation:
    'string path 1, Permission permission 2, MatchingRule winner 3, repeated MatchingRule beaten 4, ' +
    'bool pass_through 5, string reason 6',
  Preset: 'string name 1, string description 2, repeated PermissionRule permissions 3',
  ListPresetsRequest: '',
  ListPresetsResponse: 'repeated Preset presets 1',
  ChangeKind: 'CHANGE_ADDED 0, CHANGE_MODIFIED 1, CHANGE_DELETED 2',
  FileType: 'TYPE_FILE 0, TYPE_DIRECTORY 1, TYPE_SYMLINK 2, TYPE_OTHER 3',
  ListChangesRequest: 'string sandbox_id 1, int32 page_size 2, string page_token 3',
  FileChange:
    'string path 1, ChangeKind kind 2, FileType type 3, int64 size 4, int64 base_size 5, uint32 mode 6, ' +
    'uint32 base_mode 7, FileType base_type 8, bool content_changed 9, string renamed_from 10, bool conflict 11',
  ListChangesResponse: 'repeated FileChange changes 1, string next_page_token 2',
  ExportChangesRequest: 'string sandbox_id 1, string format 2',
  ExportChangesResponse: 'bytes data 1',
  DiscardRequest: 'string sandbox_id 1, repeated string paths 2',
  DiscardResponse: 'int64 discarded 1',
  CommitRequest: 'string sandbox_id 1, repeated string paths 2, string on_conflict 3, bool dry_run 4',
  FileStat:
    'string path 1, FileType type 2, int64 size 3, uint32 mode 4, int64 modified_at 5, string target 6, ' +
    'Permission permission 7',
  StatFileRequest: 'string sandbox_id 1, string as 2, string path 3',
  ListDirectoryRequest:
    'string sandbox_id 1, string as 2, string path 3, bool recursive 4, int32 page_size 5, string page_token 6',
  ListDirectoryResponse: 'repeated FileStat files 1, string next_page_token 2',
  ReadFileRequest: 'string sandbox_id 1, string as 2, string path 3',
  ReadFileResponse: 'bytes data 1',
  WriteFileRequest: 'string sandbox_id 1, string as 2, string path 3, bytes chunk 4, uint32 mode 5',
  MakeDirectoryRequest: 'string sandbox_id 1, string as 2, string path 3, uint32 mode 4, bool parents 5',
  MoveFileRequest: 'string sandbox_id 1, string as 2, string from 3, string to 4, bool replace 5',
  DeleteFileRequest: 'string sandbox_id 1, string as 2, string path 3, bool recursive 4',
  DeleteFileResponse: 'int64 removed 1',
  ExportFilesRequest: 'string sandbox_id 1, string as 2, string path 3, string format 4',
  ExportFilesResponse: 'bytes data 1',
  ImportFilesRequest: 'string sandbox_id 1, string as 2, string path 3, bytes chunk 4, string format 5',
  ImportFilesResponse: 'int64 files 1, int64 directories 2, int64 symlinks 3, int64 size 4',
  CommitResponse: 'bool committed 1, int64 count 2, repeated FileChange changes 3, repeated string conflicts 4',
  Checkpoint: 'string sandbox_id 1, string name 2, int64 created_at 3, int64 files 4, int64 bytes 5',
  CreateCheckpointRequest: 'string sandbox_id 1, string name 2',
  ListCheckpointsRequest: 'string sandbox_id 1',
  ListCheckpointsResponse: 'repeated Checkpoint checkpoints 1',
  DeleteCheckpointRequest: 'string sandbox_id 1, string name 2',
  RollbackRequest: 'string sandbox_id 1, string checkpoint 2',
  ForkRequest:
    'string sandbox_id 1, int32 count 2, string checkpoint 3, repeated PermissionRule permissions 4, string preset 5, ' +
    'map<string, string> labels 6, int64 expires_in 7, ResourceLimits resources 8, string auto_commit 9',
  ForkError: 'int32 code 1, string message 2',
  ForkResult: 'Sandbox sandbox 1, ForkError error 2',
  ForkResponse: 'repeated ForkResult results 1',
  Codebase: 'string id 1, string name 2, string owner_id 3, int64 created_at 4, int64 file_count 5, int64 total_size 6',
  CreateCodebaseRequest: 'string name 1, string owner_id 2',
  GetCodebaseRequest: 'string codebase_id 1',
  DeleteCodebaseRequest: 'string codebase_id 1',
  ListCodebasesRequest: 'string owner_id 1, int32 page_size 2, string page_token 3',
  ListCodebasesResponse: 'repeated Codebase codebases 1, string next_page_token 2',
  UploadFileRequest: 'string codebase_id 1, string file_path 2, bytes chunk 3, uint32 mode 4',
  UploadFileResponse: 'int64 size 1, string checksum 2',
  DownloadFileRequest: 'string codebase_id 1, string file_path 2',
  DownloadFileResponse: 'bytes data 1',
  ListFilesRequest: 'string codebase_id 1, string path 2, bool recursive 3, int32 page_size 4, string page_token 5',
  ListFilesResponse: 'repeated FileInfo files 1, string next_page_token 2',
  FileInfo: 'string path 1, int64 size 2, int64 modified_at 3, bool is_dir 4, uint32 mode 5',
};

describe('service.v1', () => {
  it.each(Object.entries(CONTRACT))('%s has the numbers and types of the contract', (name, contract) => {
    expect(told(name)).toBe(contract);
  });

  it('defines nothing beside the contract', () => {
    const names = Object.keys(definitions).filter((name) => !name.endsWith('Service'));
    expect(names.sort()).toEqual(Object.keys(CONTRACT).sort());
  });
});
