import type {
  Caller,
  Checkpoint,
  Codebase,
  CommitResponse,
  CreatedKey,
  ExecResponse,
  ExecStreamChunk,
  FileChange,
  FileInfo,
  FileStat,
  ForkResult,
  Image,
  ImportCodebaseFilesResponse,
  ImportFilesResponse,
  Key,
  ListConnectionsResponse,
  ListNetworkPresetsResponse,
  ListPortsResponse,
  ListSecretsResponse,
  NetworkEvent,
  NetworkExplanation,
  NetworkPolicy,
  OpenedPort,
  OpenPortResponse,
  OwnerSettings,
  PermissionExplanation,
  Preset,
  PreviewFileResponse,
  Process,
  ProcessEvent,
  ReadProcessOutputResponse,
  RefusedPath,
  Sandbox,
  Secret,
  Session,
  Ticket,
  WaitPortResponse,
} from '../../lib/contract/messages.ts';
import type { Code } from '../../lib/errors.ts';
import type { ImportMode } from '../../lib/field-values.ts';
import type { AttachedClient } from './attached.ts';

export type Protocol = 'rest' | 'grpc';
export const PROTOCOLS: readonly Protocol[] = ['rest', 'grpc'];

/** Operations of one request and one answer: what each answers. */
export interface Unary {
  CreateSandbox: Sandbox;
  GetSandbox: Sandbox;
  ListSandboxes: { sandboxes: Sandbox[]; next_page_token: string };
  UpdateSandbox: Sandbox;
  StartSandbox: Sandbox;
  StopSandbox: Sandbox;
  DestroySandbox: object;
  Exec: ExecResponse;
  CreateSession: Session;
  GetSession: Session;
  ListSessions: { sessions: Session[]; next_page_token: string };
  DestroySession: object;
  SessionExec: ExecResponse;
  StartProcess: Process;
  GetProcess: Process;
  ListProcesses: { processes: Process[]; next_page_token: string };
  DeleteProcess: object;
  SignalProcess: Process;
  ResizeTerminal: object;
  ReadProcessOutput: ReadProcessOutputResponse;
  WaitPort: WaitPortResponse;
  OpenPort: OpenPortResponse;
  ListPorts: ListPortsResponse;
  GetPort: OpenedPort;
  ClosePort: object;
  UpdatePermissions: Sandbox;
  ExplainPermission: PermissionExplanation;
  ListPresets: { presets: Preset[] };
  ListRefusals: { refusals: RefusedPath[] };
  GetNetwork: NetworkPolicy;
  UpdateNetwork: NetworkPolicy;
  ExplainNetwork: NetworkExplanation;
  ListConnections: ListConnectionsResponse;
  ListNetworkPresets: ListNetworkPresetsResponse;
  Commit: CommitResponse;
  Discard: { discarded: number };
  CreateCheckpoint: Checkpoint;
  ListCheckpoints: { checkpoints: Checkpoint[] };
  DeleteCheckpoint: object;
  Rollback: Sandbox;
  Fork: { results: ForkResult[] };
  ListChanges: { changes: FileChange[]; next_page_token: string };
  PreviewFile: PreviewFileResponse;
  StatFile: FileStat;
  ListDirectory: { files: FileStat[]; next_page_token: string };
  MakeDirectory: FileStat;
  MoveFile: FileStat;
  DeleteFile: { removed: number };
  CreateCodebase: Codebase;
  GetCodebase: Codebase;
  ListCodebases: { codebases: Codebase[]; next_page_token: string };
  DeleteCodebase: object;
  ListFiles: { files: FileInfo[]; next_page_token: string };
  CreateKey: CreatedKey & { key: Key };
  ListKeys: { keys: Key[]; next_page_token: string };
  RevokeKey: object;
  CreateTicket: Ticket;
  GetCaller: Caller;
  PutSecret: Secret;
  GetSecret: Secret;
  ListSecrets: ListSecretsResponse;
  DeleteSecret: Record<string, never>;
  SetOwnerLimits: OwnerSettings;
  GetOwnerLimits: OwnerSettings;
  GetImage: Image;
  ListImages: { images: Image[]; next_page_token: string };
  DeleteImage: object;
}

export type Content = Uint8Array | string | AsyncIterable<Uint8Array>;

/** One process. */
export interface OfProcess {
  sandbox_id: string;
  process_id: string;
  offset?: number;
}

/** Which changes. */
export interface Choice {
  paths?: string[];
  exclude?: string[];
  include_scratch?: boolean;
  as?: string;
}

export interface UploadResult {
  size: number;
  checksum: string;
}

/** Whose view of what. */
export interface OfFile {
  sandbox_id: string;
  as?: string;
  path?: string;
}

/**
 * The service as one protocol carries it: proto field names, enums by name, int64 as number. Requests are plain
 * objects, so that cases can send what they should not. Every refusal is a `CallError`.
 */
export interface Client {
  readonly protocol: Protocol;
  call<O extends keyof Unary>(operation: O, request: object, signal?: AbortSignal): Promise<Unary[O]>;
  /** ExecStream, or SessionExecStream for a request with a `session_id`. */
  execStream(request: object, signal?: AbortSignal): AsyncIterable<ExecStreamChunk>;
  watchProcess(request: OfProcess, signal?: AbortSignal): AsyncIterable<ProcessEvent>;
  watchNetwork(request: object, signal?: AbortSignal): AsyncIterable<NetworkEvent>;
  attach(request: OfProcess & { takeover?: boolean }): AttachedClient;
  writeProcessInput(request: OfProcess & { end?: boolean }, content: Content): Promise<{ input_next: number }>;
  upload(codebaseId: string, path: string, content: Content, mode?: number): Promise<UploadResult>;
  download(codebaseId: string, path: string): AsyncIterable<Uint8Array>;
  exportChanges(sandboxId: string, format: string, choice?: Choice): AsyncIterable<Uint8Array>;
  readFile(request: OfFile): AsyncIterable<Uint8Array>;
  writeFile(request: OfFile & { mode?: number }, content: Content): Promise<FileStat>;
  exportFiles(request: OfFile): AsyncIterable<Uint8Array>;
  importImage(name: string, archive: Content): Promise<Image>;
  importFiles(request: OfFile, archive: Content): Promise<ImportFilesResponse>;
  exportCodebase(codebaseId: string, path?: string): AsyncIterable<Uint8Array>;
  importCodebase(
    codebaseId: string,
    archive: Content,
    mode?: ImportMode,
    if_revision?: string,
  ): Promise<ImportCodebaseFilesResponse>;
  close(): void;
}

/** An error as the client of either protocol sees it. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: Code;
  readonly details: readonly unknown[];

  constructor(code: Code, message: string, details: readonly unknown[]) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export async function* chunksOf(content: Content): AsyncGenerator<Uint8Array, void, void> {
  if (typeof content === 'string') yield Buffer.from(content);
  else if (content instanceof Uint8Array) yield content;
  else yield* content;
}

export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}
