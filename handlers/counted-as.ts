import type { Count } from '../lib/limits/limits.ts';
import type { Rpc } from './define.ts';

const COMMAND = ['command'] as const;
const STREAM = ['stream'] as const;
const CREATE = ['create'] as const;
/** A request and nothing else. */
const CALL = [] as const;

/**
 * What each operation is counted as for the limits of keys and owners, in addition to one request. Operations that
 * transfer content of any length are streams.
 */
export const COUNTED_AS: Readonly<Record<Rpc | 'Health', readonly Count[]>> = {
  CreateSandbox: CREATE,
  GetSandbox: CALL,
  ListSandboxes: CALL,
  StartSandbox: CALL,
  StopSandbox: CALL,
  DestroySandbox: CALL,
  Exec: COMMAND,
  ExecStream: ['command', 'stream'],
  StartProcess: COMMAND,
  GetProcess: CALL,
  ListProcesses: CALL,
  DeleteProcess: CALL,
  SignalProcess: CALL,
  ResizeTerminal: CALL,
  ReadProcessOutput: STREAM,
  WatchProcess: STREAM,
  WriteProcessInput: STREAM,
  WaitPort: STREAM,
  AttachProcess: STREAM,
  CreateSession: COMMAND,
  GetSession: CALL,
  ListSessions: CALL,
  DestroySession: CALL,
  SessionExec: COMMAND,
  SessionExecStream: ['command', 'stream'],
  UpdateSandbox: CALL,
  UpdatePermissions: CALL,
  ExplainPermission: CALL,
  ListPresets: CALL,
  ExportChanges: STREAM,
  ListChanges: CALL,
  Commit: CALL,
  Discard: CALL,
  CreateCheckpoint: CREATE,
  ListCheckpoints: CALL,
  DeleteCheckpoint: CALL,
  Rollback: CALL,
  Fork: CREATE,
  StatFile: CALL,
  ReadFile: STREAM,
  WriteFile: STREAM,
  DeleteFile: CALL,
  ExportFiles: STREAM,
  ListDirectory: CALL,
  ImportFiles: STREAM,
  MakeDirectory: CALL,
  MoveFile: CALL,
  CreateCodebase: CREATE,
  GetCodebase: CALL,
  ListCodebases: CALL,
  DeleteCodebase: CALL,
  UploadFile: STREAM,
  DownloadFile: STREAM,
  ListFiles: CALL,
  RemoveFile: CALL,
  CreateKey: CREATE,
  ListKeys: CALL,
  RevokeKey: CALL,
  CreateTicket: CALL,
  GetCaller: CALL,
  SetOwnerLimits: CALL,
  GetOwnerLimits: CALL,
  Health: CALL,
};
