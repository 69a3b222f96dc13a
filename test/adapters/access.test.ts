import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { openKeyAccess } from '../../lib/access/key-access.ts';
import { ServiceError } from '../../lib/errors.ts';
import { NO_LIMITS } from '../../lib/limits/limits.ts';
import { ReceivedBytes } from '../../lib/limits/received-bytes.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { silentLog } from '../../lib/log.ts';
import type { KeyRecord, Metadata } from '../../lib/metadata/metadata.ts';
import type { Services } from '../../lib/services.ts';
import { callGrpc, callRest, type Outcome } from './access-calls.ts';
import { grpcOver, type Rest, type Rpc as RpcServer, restOver } from './clients.ts';
import { noRetries } from './fake-services.ts';
import { keyFor, tableOf } from './keyed-services.ts';

/** A valid request of each operation, on the sandbox, codebase and key of the owner ann. */
const SANDBOX = { sandbox_id: 'sb_ann' };
const PROCESS = { ...SANDBOX, process_id: 'pr_1' };
const SESSION = { session_id: 'se_ann' };
const CODEBASE = { codebase_id: 'cb_ann' };
const REQUESTS: Readonly<Record<Rpc | 'Health', Readonly<Record<string, unknown>>>> = {
  CreateSandbox: CODEBASE,
  GetSandbox: SANDBOX,
  ListSandboxes: {},
  UpdateSandbox: { ...SANDBOX, labels: { a: 'b' } },
  StartSandbox: SANDBOX,
  StopSandbox: SANDBOX,
  DestroySandbox: SANDBOX,
  Exec: { ...SANDBOX, command: 'true' },
  ExecStream: { ...SANDBOX, command: 'true' },
  CreateSession: SANDBOX,
  GetSession: SESSION,
  ListSessions: SANDBOX,
  DestroySession: SESSION,
  SessionExec: { ...SESSION, command: 'true' },
  SessionExecStream: { ...SESSION, command: 'true' },
  StartProcess: { ...SANDBOX, command: 'true' },
  GetProcess: PROCESS,
  ListProcesses: SANDBOX,
  DeleteProcess: PROCESS,
  SignalProcess: { ...PROCESS, signal: 'SIGTERM' },
  ResizeTerminal: { ...PROCESS, columns: 80, rows: 24 },
  ReadProcessOutput: PROCESS,
  WatchProcess: PROCESS,
  WriteProcessInput: PROCESS,
  WaitPort: SANDBOX,
  OpenPort: { ...SANDBOX, port: 8000 },
  ListPorts: { ...SANDBOX, opened: true },
  GetPort: { ...SANDBOX, port: 8000 },
  ClosePort: { ...SANDBOX, port: 8000 },
  AttachProcess: PROCESS,
  UpdatePermissions: SANDBOX,
  ExplainPermission: SANDBOX,
  ListPresets: {},
  GetNetwork: SANDBOX,
  UpdateNetwork: { ...SANDBOX, mode: 'none' },
  ExplainNetwork: { ...SANDBOX, host: 'example.org' },
  ListConnections: SANDBOX,
  WatchNetwork: SANDBOX,
  ListNetworkPresets: {},
  ExportChanges: { ...SANDBOX, format: 'tar' },
  ListChanges: SANDBOX,
  Commit: SANDBOX,
  Discard: SANDBOX,
  CreateCheckpoint: { ...SANDBOX, name: 'a' },
  ListRefusals: SANDBOX,
  ListCheckpoints: SANDBOX,
  DeleteCheckpoint: { ...SANDBOX, name: 'a' },
  Rollback: { ...SANDBOX, checkpoint: 'a' },
  Fork: SANDBOX,
  PreviewFile: { ...SANDBOX, path: 'a' },
  StatFile: SANDBOX,
  ReadFile: { ...SANDBOX, path: 'a' },
  WriteFile: { ...SANDBOX, path: 'a' },
  DeleteFile: { ...SANDBOX, path: 'a' },
  ExportFiles: { ...SANDBOX, format: 'tar' },
  ListDirectory: SANDBOX,
  ImportFiles: { ...SANDBOX, format: 'tar' },
  MakeDirectory: { ...SANDBOX, path: 'a' },
  MoveFile: { ...SANDBOX, from: 'a', to: 'b' },
  CreateCodebase: { name: 'a' },
  GetCodebase: CODEBASE,
  ListCodebases: {},
  DeleteCodebase: CODEBASE,
  UploadFile: { ...CODEBASE, file_path: 'a' },
  DownloadFile: { ...CODEBASE, file_path: 'a' },
  ListFiles: CODEBASE,
  RemoveFile: { ...CODEBASE, file_path: 'a' },
  ImportCodebaseFiles: CODEBASE,
  ExportCodebaseFiles: { ...CODEBASE, format: 'tar' },
  ImportImage: { name: 'a' },
  GetImage: { image: 'a' },
  ListImages: {},
  DeleteImage: { image: 'a' },
  PutSecret: { name: 'a', value: 'password', hosts: ['a.example'] },
  GetSecret: { name: 'a' },
  ListSecrets: {},
  DeleteSecret: { name: 'a' },
  CreateKey: { name: 'a', role: 'agent', ...SANDBOX },
  ListKeys: {},
  RevokeKey: { key_id: 'annskey1' },
  CreateTicket: { path: '/v1/sandboxes/sb_ann/files/a' },
  GetCaller: {},
  SetOwnerLimits: { owner_id: 'ann', limits: {} },
  GetOwnerLimits: { owner_id: 'ann' },
  Health: {},
};

/**
 * What each caller may do, decided by hand. The callers in order: an agent of the sandbox, an agent of another sandbox,
 * the owner, another owner, an admin. `+`: the operation is carried out; `-`: PERMISSION_DENIED; `0`: NOT_FOUND.
 */
const ALLOWED: Readonly<Record<Rpc | 'Health', string>> = {
  CreateSandbox: '--+0+',
  GetSandbox: '+0+0+',
  ListSandboxes: '--+++',
  UpdateSandbox: '--+0+',
  StartSandbox: '--+0+',
  StopSandbox: '--+0+',
  DestroySandbox: '--+0+',
  Exec: '+0+0+',
  ExecStream: '+0+0+',
  CreateSession: '+0+0+',
  GetSession: '+0+0+',
  ListSessions: '+0+0+',
  DestroySession: '+0+0+',
  SessionExec: '+0+0+',
  SessionExecStream: '+0+0+',
  StartProcess: '+0+0+',
  GetProcess: '+0+0+',
  ListProcesses: '+0+0+',
  DeleteProcess: '+0+0+',
  SignalProcess: '+0+0+',
  ResizeTerminal: '+0+0+',
  ReadProcessOutput: '+0+0+',
  WatchProcess: '+0+0+',
  WriteProcessInput: '+0+0+',
  WaitPort: '+0+0+',
  OpenPort: '--+0+',
  ListPorts: '+0+0+',
  GetPort: '+0+0+',
  ClosePort: '--+0+',
  AttachProcess: '+0+0+',
  UpdatePermissions: '--+0+',
  ExplainPermission: '+0+0+',
  ListPresets: '+++++',
  GetNetwork: '+0+0+',
  UpdateNetwork: '--+0+',
  ExplainNetwork: '+0+0+',
  ListConnections: '--+0+',
  WatchNetwork: '--+0+',
  ListNetworkPresets: '+++++',
  ExportChanges: '+0+0+',
  ListChanges: '+0+0+',
  Commit: '--+0+',
  Discard: '--+0+',
  CreateCheckpoint: '--+0+',
  ListRefusals: '--+0+',
  ListCheckpoints: '--+0+',
  DeleteCheckpoint: '--+0+',
  Rollback: '--+0+',
  Fork: '--+0+',
  PreviewFile: '--+0+',
  StatFile: '+0+0+',
  ReadFile: '+0+0+',
  WriteFile: '+0+0+',
  DeleteFile: '+0+0+',
  ExportFiles: '+0+0+',
  ListDirectory: '+0+0+',
  ImportFiles: '+0+0+',
  MakeDirectory: '+0+0+',
  MoveFile: '+0+0+',
  CreateCodebase: '--+++',
  GetCodebase: '--+0+',
  ListCodebases: '--+++',
  DeleteCodebase: '--+0+',
  UploadFile: '--+0+',
  DownloadFile: '--+0+',
  ListFiles: '--+0+',
  RemoveFile: '--+0+',
  ImportCodebaseFiles: '--+0+',
  ExportCodebaseFiles: '--+0+',
  ImportImage: '----+',
  GetImage: '--+++',
  ListImages: '--+++',
  DeleteImage: '----+',
  PutSecret: '--+++',
  GetSecret: '--+++',
  ListSecrets: '--+++',
  DeleteSecret: '--+++',
  CreateKey: '--+++',
  ListKeys: '--+++',
  RevokeKey: '--+0+',
  CreateTicket: '+++++',
  GetCaller: '+++++',
  SetOwnerLimits: '----+',
  GetOwnerLimits: '--+-+',
  Health: '+++++',
};

const OUTCOMES: Readonly<Record<string, Outcome>> = { '+': 'reached', '-': 'PERMISSION_DENIED', '0': 'NOT_FOUND' };

const NOW = Date.now();

const created = {
  expired: keyFor({ owner_id: 'ann', expires_at: Math.floor(NOW / 1000) - 1 }),
  revoked: keyFor({ owner_id: 'ann' }),
  agent: keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann' }),
  'agent of another sandbox': keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann2' }),
  owner: keyFor({ owner_id: 'ann' }),
  'another owner': keyFor({ owner_id: 'bob' }),
  admin: keyFor({ role: 'admin' }),
};
const CALLERS = ['agent', 'agent of another sandbox', 'owner', 'another owner', 'admin'] as const;

/** Services whose operations all end with UNIMPLEMENTED: the call has passed the decision. */
function reachedServices(): Services {
  const records: KeyRecord[] = Object.values(created).map(({ record }) => record);
  const metadata = {
    codebases: tableOf([{ id: 'cb_ann', owner_id: 'ann' }]),
    sandboxes: tableOf([
      { id: 'sb_ann', owner_id: 'ann' },
      { id: 'sb_ann2', owner_id: 'ann' },
    ]),
    keys: tableOf([...records, { ...created.owner.record, id: 'annskey1' }]),
    owners: tableOf([]),
  } as unknown as Metadata;
  let uptime = 0;
  const { access, keys } = openKeyAccess({
    metadata,
    dbPath: '/nonexistent/db',
    adminKey: undefined,
    sessionPlace: (id) => (id === SESSION.session_id ? { sandbox: 'sb_ann', owner: 'ann' } : undefined),
    perKey: NO_LIMITS,
    limits: unlimitedOwners(0),
    log: silentLog,
    // So much time passes between two calls that no answer to a wrong key is held back.
    uptime: () => (uptime += 60_000),
  });
  void keys.revoke(created.revoked.record.id);
  const reached = () => {
    throw new ServiceError('UNIMPLEMENTED', 'reached');
  };
  const everything = new Proxy({}, { get: () => reached }) as never;
  return {
    sandboxes: everything,
    processes: everything,
    sessions: everything,
    networks: everything,
    ports: everything,
    codebases: everything,
    images: everything,
    keys: everything,
    owners: everything,
    secrets: everything,
    textTools: everything,
    access,
    retries: noRetries,
    received: new ReceivedBytes(),
  };
}

let rest: Rest;
let rpc: RpcServer;
beforeAll(async () => {
  rest = await restOver(reachedServices());
  rpc = await grpcOver(reachedServices());
});
afterAll(async () => {
  await rest.close();
  await rpc.close();
});

const rows = operations.map((row) => ({ ...row, what: `${row.operation} by ${row.method} ${row.path}` }));

describe.each(rows)('$what', (row) => {
  const request = REQUESTS[row.operation];
  const restOutcome = (key?: string) => callRest(rest.url, row, request, key);
  const grpcOutcome = (key?: string) =>
    row.operation === 'Health' ? 'reached' : callGrpc(rpc.client, row.operation, request, key);
  const denied = row.operation === 'Health' ? 'reached' : 'UNAUTHENTICATED';

  it('needs a valid key', async () => {
    const wrong = `${created.owner.text.slice(0, -4)}AAAA`;
    const truncated = created.owner.text.slice(0, -1);
    for (const key of [undefined, wrong, truncated, '', created.expired.text, created.revoked.text]) {
      expect([await restOutcome(key), await grpcOutcome(key)]).toEqual([denied, denied]);
    }
  });

  it('is allowed to those who may call it', async () => {
    const expected = Array.from(ALLOWED[row.operation], (mark) => OUTCOMES[mark]);
    const over = async (call: typeof restOutcome | typeof grpcOutcome) =>
      Promise.all(CALLERS.map((caller) => call(created[caller].text)));
    expect({ rest: await over(restOutcome), grpc: await over(grpcOutcome) }).toEqual({
      rest: expected,
      grpc: expected,
    });
  });
});
