import type { Need } from '../lib/access/need.ts';
import { attachProcess } from './attach-process.ts';
import { closePort } from './close-port.ts';
import { commit } from './commit.ts';
import { createCheckpoint } from './create-checkpoint.ts';
import { createCodebase } from './create-codebase.ts';
import { createKey } from './create-key.ts';
import { createSandbox } from './create-sandbox.ts';
import { createSession } from './create-session.ts';
import { createTicket } from './create-ticket.ts';
import type { Download, Export, Handler, Rpc } from './define.ts';
import { deleteCheckpoint } from './delete-checkpoint.ts';
import { deleteCodebase } from './delete-codebase.ts';
import { deleteFile } from './delete-file.ts';
import { deleteImage } from './delete-image.ts';
import { deleteProcess } from './delete-process.ts';
import { deleteSecret } from './delete-secret.ts';
import { destroySandbox } from './destroy-sandbox.ts';
import { destroySession } from './destroy-session.ts';
import { discard } from './discard.ts';
import { downloadFile } from './download-file.ts';
import { exec } from './exec.ts';
import { execStream } from './exec-stream.ts';
import { explainNetwork } from './explain-network.ts';
import { explainPermission } from './explain-permission.ts';
import { exportChanges } from './export-changes.ts';
import { exportCodebaseFiles } from './export-codebase-files.ts';
import { exportFiles } from './export-files.ts';
import { fork } from './fork.ts';
import { getCaller } from './get-caller.ts';
import { getCodebase } from './get-codebase.ts';
import { getImage } from './get-image.ts';
import { getNetwork } from './get-network.ts';
import { getOwnerLimits } from './get-owner-limits.ts';
import { getPort } from './get-port.ts';
import { getProcess } from './get-process.ts';
import { getSandbox } from './get-sandbox.ts';
import { getSecret } from './get-secret.ts';
import { getSession } from './get-session.ts';
import { health } from './health.ts';
import { importCodebaseFiles } from './import-codebase-files.ts';
import { importFiles } from './import-files.ts';
import { importImage } from './import-image.ts';
import { listChanges } from './list-changes.ts';
import { listCheckpoints } from './list-checkpoints.ts';
import { listCodebases } from './list-codebases.ts';
import { listConnections } from './list-connections.ts';
import { listDirectory } from './list-directory.ts';
import { listFiles } from './list-files.ts';
import { listImages } from './list-images.ts';
import { listKeys } from './list-keys.ts';
import { listNetworkPresets } from './list-network-presets.ts';
import { listPorts } from './list-ports.ts';
import { listPresets } from './list-presets.ts';
import { listProcesses } from './list-processes.ts';
import { listRefusals } from './list-refusals.ts';
import { listSandboxes } from './list-sandboxes.ts';
import { listSecrets } from './list-secrets.ts';
import { listSessions } from './list-sessions.ts';
import { makeDirectory } from './make-directory.ts';
import { moveFile } from './move-file.ts';
import { openPort } from './open-port.ts';
import { previewFile } from './preview-file.ts';
import { putSecret } from './put-secret.ts';
import { readFile } from './read-file.ts';
import { readProcessOutput } from './read-process-output.ts';
import { removeFile } from './remove-file.ts';
import { resizeTerminal } from './resize-terminal.ts';
import { revokeKey } from './revoke-key.ts';
import { rollback } from './rollback.ts';
import { sessionExec } from './session-exec.ts';
import { sessionExecStream } from './session-exec-stream.ts';
import { setOwnerLimits } from './set-owner-limits.ts';
import { signalProcess } from './signal-process.ts';
import { startProcess } from './start-process.ts';
import { startSandbox } from './start-sandbox.ts';
import { statFile } from './stat-file.ts';
import { stopSandbox } from './stop-sandbox.ts';
import { updateNetwork } from './update-network.ts';
import { updatePermissions } from './update-permissions.ts';
import { updateSandbox } from './update-sandbox.ts';
import { uploadFile } from './upload-file.ts';
import { waitPort } from './wait-port.ts';
import { watchNetwork } from './watch-network.ts';
import { watchProcess } from './watch-process.ts';
import { writeFile } from './write-file.ts';
import { writeProcessInput } from './write-process-input.ts';

export type { Handler, HandlerContext, HandlerEvent } from './define.ts';

interface Route {
  /** Name of the rpc; Health has its own gRPC service. gRPC uses the first of several rows of an rpc. */
  operation: Rpc | 'Health';
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` matches one segment, for the request field of that name; `{name+}` matches the rest of the path. */
  path: string;
  /** Matches only requests with this query parameter, and then precedes the row of the same path without it. */
  query?: string;
  /** What the operation needs from its caller. */
  access: Need;
  retry: Retry;
}

/**
 * What happens if a call is repeated, for example because its answer was lost. `read`: nothing changes; `same`: nothing
 * more than by the first call, although it may be refused, like the removal of what is removed; `again`: it takes effect
 * again; `key`: it takes effect again, unless both calls have the same `Idempotency-Key`. Operations that commit, or
 * create a sandbox, codebase, checkpoint or key, must have `key`, and a row in `lib/retries/interrupted.ts`.
 */
type Retry = 'read' | 'same' | 'again' | 'key';

/** How a client goes on with a stream of messages that it has lost. */
export interface Cursor {
  /** Field of the request: the position to start at. A `Last-Event-ID` header sets it. */
  from: string;
  /** Field of each message: the position after it, sent as the `id` of server-sent events. */
  id: string;
  /** Field that only the last message has. A client that has it, and asks again, gets 204: an EventSource would for ever. */
  end: string;
}

/**
 * The REST form: `unary`: JSON in, JSON out; `events`: JSON in, a stream of messages out; `raw`: the body is a file;
 * `multipart`: the body contains files; `download`: the response is a file; `bytes`: the response is a stream of bytes;
 * `attach`: a WebSocket. gRPC uses the form in the proto.
 */
export type Operation = Route &
  (
    | { kind: 'unary' | 'raw' | 'multipart'; handler: Handler }
    | { kind: 'attach'; handler: Handler<AsyncIterable<object>> }
    | { kind: 'events'; cursor?: Cursor; handler: Handler<AsyncIterable<object>> }
    | { kind: 'download'; handler: Handler<Download> }
    | { kind: 'bytes'; handler: Handler<Export> }
  );

const SANDBOX = '/v1/sandboxes/{sandbox_id}';
const NETWORK = `${SANDBOX}/network`;
const PROCESSES = `${SANDBOX}/processes`;
const PROCESS = `${PROCESSES}/{process_id}`;
const PORTS = `${SANDBOX}/ports`;
const PORT = `${PORTS}/{port}`;
const SESSION = '/v1/sessions/{session_id}';
const CODEBASE = '/v1/codebases/{codebase_id}';
const SECRET = '/v1/secrets/{name}';
const FILE = `${CODEBASE}/files/{file_path+}`;

/** Everything the service does; both adapters mount this table. */
// biome-ignore format: one operation, one row
export const operations: readonly Operation[] = [
  { operation: 'CreateSandbox', method: 'POST', path: '/v1/sandboxes', kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'codebase' }, retry: 'key', handler: createSandbox },
  { operation: 'GetSandbox', method: 'GET', path: SANDBOX, kind: 'unary', access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: getSandbox },
  { operation: 'ListSandboxes', method: 'GET', path: '/v1/sandboxes', kind: 'unary', access: { role: 'owner', scope: 'sandboxes:read', on: 'owner' }, retry: 'read', handler: listSandboxes },
  { operation: 'UpdateSandbox', method: 'PATCH', path: SANDBOX, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'again', handler: updateSandbox },
  { operation: 'StartSandbox', method: 'POST', path: `${SANDBOX}/start`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'same', handler: startSandbox },
  { operation: 'StopSandbox', method: 'POST', path: `${SANDBOX}/stop`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'same', handler: stopSandbox },
  { operation: 'DestroySandbox', method: 'DELETE', path: SANDBOX, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'same', handler: destroySandbox },
  { operation: 'Exec', method: 'POST', path: `${SANDBOX}/exec`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: exec },
  { operation: 'ExecStream', method: 'POST', path: `${SANDBOX}/exec/stream`, kind: 'events', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: execStream },
  { operation: 'StartProcess', method: 'POST', path: PROCESSES, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: startProcess },
  { operation: 'ListProcesses', method: 'GET', path: PROCESSES, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: listProcesses },
  { operation: 'GetProcess', method: 'GET', path: PROCESS, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: getProcess },
  { operation: 'DeleteProcess', method: 'DELETE', path: PROCESS, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'same', handler: deleteProcess },
  { operation: 'SignalProcess', method: 'POST', path: `${PROCESS}/signal`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: signalProcess },
  { operation: 'ResizeTerminal', method: 'POST', path: `${PROCESS}/resize`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'same', handler: resizeTerminal },
  { operation: 'ReadProcessOutput', method: 'GET', path: `${PROCESS}/output`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: readProcessOutput },
  { operation: 'WatchProcess', method: 'GET', path: `${PROCESS}/events`, kind: 'events', cursor: { from: 'offset', id: 'next', end: 'end' }, access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: watchProcess },
  { operation: 'WriteProcessInput', method: 'POST', path: `${PROCESS}/input`, kind: 'raw', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: writeProcessInput },
  { operation: 'OpenPort', method: 'POST', path: PORTS, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'again', handler: openPort },
  { operation: 'ListPorts', method: 'GET', path: PORTS, query: 'opened', kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: listPorts },
  { operation: 'GetPort', method: 'GET', path: PORT, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: getPort },
  { operation: 'ClosePort', method: 'DELETE', path: PORT, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'same', handler: closePort },
  { operation: 'WaitPort', method: 'GET', path: PORTS, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: waitPort },
  { operation: 'AttachProcess', method: 'GET', path: `${PROCESS}/attach`, kind: 'attach', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: attachProcess },
  { operation: 'CreateSession', method: 'POST', path: `${SANDBOX}/sessions`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'again', handler: createSession },
  { operation: 'ListSessions', method: 'GET', path: `${SANDBOX}/sessions`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'sandbox' }, retry: 'read', handler: listSessions },
  { operation: 'GetSession', method: 'GET', path: SESSION, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'session' }, retry: 'read', handler: getSession },
  { operation: 'DestroySession', method: 'DELETE', path: SESSION, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'session' }, retry: 'same', handler: destroySession },
  { operation: 'SessionExec', method: 'POST', path: `${SESSION}/exec`, kind: 'unary', access: { role: 'agent', scope: 'exec', on: 'session' }, retry: 'again', handler: sessionExec },
  { operation: 'SessionExecStream', method: 'POST', path: `${SESSION}/exec/stream`, kind: 'events', access: { role: 'agent', scope: 'exec', on: 'session' }, retry: 'again', handler: sessionExecStream },
  { operation: 'UpdatePermissions', method: 'PUT', path: `${SANDBOX}/permissions`, kind: 'unary', access: { role: 'owner', scope: 'permissions:write', on: 'sandbox' }, retry: 'same', handler: updatePermissions },
  { operation: 'ExplainPermission', method: 'GET', path: `${SANDBOX}/permissions/explain`, kind: 'unary', access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: explainPermission },
  { operation: 'ListRefusals', method: 'GET', path: `${SANDBOX}/permissions/refusals`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: listRefusals },
  { operation: 'ListPresets', method: 'GET', path: '/v1/presets', kind: 'unary', access: { role: 'agent', on: 'nothing' }, retry: 'read', handler: listPresets },
  { operation: 'GetNetwork', method: 'GET', path: NETWORK, kind: 'unary', access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: getNetwork },
  { operation: 'UpdateNetwork', method: 'PUT', path: NETWORK, kind: 'unary', access: { role: 'owner', scope: 'permissions:write', on: 'sandbox' }, retry: 'same', handler: updateNetwork },
  { operation: 'ExplainNetwork', method: 'GET', path: `${NETWORK}/explain`, kind: 'unary', access: { role: 'agent', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: explainNetwork },
  { operation: 'ListConnections', method: 'GET', path: `${NETWORK}/connections`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: listConnections },
  { operation: 'WatchNetwork', method: 'GET', path: `${NETWORK}/events`, kind: 'events', cursor: { from: 'after', id: 'sequence', end: 'end' }, access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: watchNetwork },
  { operation: 'ListNetworkPresets', method: 'GET', path: '/v1/network-presets', kind: 'unary', access: { role: 'agent', on: 'nothing' }, retry: 'read', handler: listNetworkPresets },
  { operation: 'ExportChanges', method: 'GET', path: `${SANDBOX}/changes`, query: 'format', kind: 'bytes', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: exportChanges },
  { operation: 'ListChanges', method: 'GET', path: `${SANDBOX}/changes`, kind: 'unary', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: listChanges },
  { operation: 'Commit', method: 'POST', path: `${SANDBOX}/commit`, kind: 'unary', access: { role: 'owner', scope: 'changes:commit', on: 'sandbox' }, retry: 'key', handler: commit },
  { operation: 'Discard', method: 'POST', path: `${SANDBOX}/discard`, kind: 'unary', access: { role: 'owner', scope: 'files:write', on: 'sandbox' }, retry: 'again', handler: discard },
  { operation: 'CreateCheckpoint', method: 'POST', path: `${SANDBOX}/checkpoints`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'key', handler: createCheckpoint },
  { operation: 'ListCheckpoints', method: 'GET', path: `${SANDBOX}/checkpoints`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:read', on: 'sandbox' }, retry: 'read', handler: listCheckpoints },
  { operation: 'DeleteCheckpoint', method: 'DELETE', path: `${SANDBOX}/checkpoints/{name}`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'same', handler: deleteCheckpoint },
  { operation: 'Rollback', method: 'POST', path: `${SANDBOX}/rollback`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'again', handler: rollback },
  { operation: 'Fork', method: 'POST', path: `${SANDBOX}/fork`, kind: 'unary', access: { role: 'owner', scope: 'sandboxes:write', on: 'sandbox' }, retry: 'key', handler: fork },
  { operation: 'PreviewFile', method: 'GET', path: `${SANDBOX}/preview`, kind: 'unary', access: { role: 'owner', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: previewFile },
  { operation: 'StatFile', method: 'GET', path: `${SANDBOX}/stat`, kind: 'unary', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: statFile },
  { operation: 'ReadFile', method: 'GET', path: `${SANDBOX}/files/{path+}`, kind: 'download', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: readFile },
  { operation: 'ReadFile', method: 'HEAD', path: `${SANDBOX}/files/{path+}`, kind: 'download', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: readFile },
  { operation: 'WriteFile', method: 'PUT', path: `${SANDBOX}/files/{path+}`, kind: 'raw', access: { role: 'agent', scope: 'files:write', on: 'sandbox' }, retry: 'same', handler: writeFile },
  { operation: 'DeleteFile', method: 'DELETE', path: `${SANDBOX}/files/{path+}`, kind: 'unary', access: { role: 'agent', scope: 'files:write', on: 'sandbox' }, retry: 'same', handler: deleteFile },
  { operation: 'ExportFiles', method: 'GET', path: `${SANDBOX}/files`, query: 'format', kind: 'bytes', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: exportFiles },
  { operation: 'ListDirectory', method: 'GET', path: `${SANDBOX}/files`, kind: 'unary', access: { role: 'agent', scope: 'files:read', on: 'sandbox' }, retry: 'read', handler: listDirectory },
  { operation: 'ImportFiles', method: 'PUT', path: `${SANDBOX}/files`, kind: 'raw', access: { role: 'agent', scope: 'files:write', on: 'sandbox' }, retry: 'same', handler: importFiles },
  { operation: 'MakeDirectory', method: 'POST', path: `${SANDBOX}/mkdir`, kind: 'unary', access: { role: 'agent', scope: 'files:write', on: 'sandbox' }, retry: 'same', handler: makeDirectory },
  { operation: 'MoveFile', method: 'POST', path: `${SANDBOX}/move`, kind: 'unary', access: { role: 'agent', scope: 'files:write', on: 'sandbox' }, retry: 'again', handler: moveFile },
  { operation: 'CreateCodebase', method: 'POST', path: '/v1/codebases', kind: 'unary', access: { role: 'owner', scope: 'codebases:write', on: 'owner' }, retry: 'key', handler: createCodebase },
  { operation: 'GetCodebase', method: 'GET', path: CODEBASE, kind: 'unary', access: { role: 'owner', scope: 'codebases:read', on: 'codebase' }, retry: 'read', handler: getCodebase },
  { operation: 'ListCodebases', method: 'GET', path: '/v1/codebases', kind: 'unary', access: { role: 'owner', scope: 'codebases:read', on: 'owner' }, retry: 'read', handler: listCodebases },
  { operation: 'DeleteCodebase', method: 'DELETE', path: CODEBASE, kind: 'unary', access: { role: 'owner', scope: 'codebases:write', on: 'codebase' }, retry: 'same', handler: deleteCodebase },
  { operation: 'UploadFile', method: 'POST', path: `${CODEBASE}/files`, kind: 'multipart', access: { role: 'owner', scope: 'files:write', on: 'codebase' }, retry: 'same', handler: uploadFile },
  { operation: 'DownloadFile', method: 'GET', path: FILE, kind: 'download', access: { role: 'owner', scope: 'files:read', on: 'codebase' }, retry: 'read', handler: downloadFile },
  { operation: 'ExportCodebaseFiles', method: 'GET', path: `${CODEBASE}/files`, query: 'format', kind: 'bytes', access: { role: 'owner', scope: 'files:read', on: 'codebase' }, retry: 'read', handler: exportCodebaseFiles },
  { operation: 'ListFiles', method: 'GET', path: `${CODEBASE}/files`, kind: 'unary', access: { role: 'owner', scope: 'files:read', on: 'codebase' }, retry: 'read', handler: listFiles },
  { operation: 'UploadFile', method: 'PUT', path: FILE, kind: 'raw', access: { role: 'owner', scope: 'files:write', on: 'codebase' }, retry: 'same', handler: uploadFile },
  { operation: 'ImportCodebaseFiles', method: 'PUT', path: `${CODEBASE}/files`, kind: 'raw', access: { role: 'owner', scope: 'files:write', on: 'codebase' }, retry: 'same', handler: importCodebaseFiles },
  { operation: 'DownloadFile', method: 'HEAD', path: FILE, kind: 'download', access: { role: 'owner', scope: 'files:read', on: 'codebase' }, retry: 'read', handler: downloadFile },
  { operation: 'RemoveFile', method: 'DELETE', path: FILE, kind: 'unary', access: { role: 'owner', scope: 'files:write', on: 'codebase' }, retry: 'same', handler: removeFile },
  { operation: 'ImportImage', method: 'PUT', path: '/v1/images/{name+}', kind: 'raw', access: { role: 'admin', scope: 'images:write', on: 'nothing' }, retry: 'same', handler: importImage },
  { operation: 'GetImage', method: 'GET', path: '/v1/images/{image+}', kind: 'unary', access: { role: 'owner', scope: 'images:read', on: 'nothing' }, retry: 'read', handler: getImage },
  { operation: 'ListImages', method: 'GET', path: '/v1/images', kind: 'unary', access: { role: 'owner', scope: 'images:read', on: 'nothing' }, retry: 'read', handler: listImages },
  { operation: 'DeleteImage', method: 'DELETE', path: '/v1/images/{image+}', kind: 'unary', access: { role: 'admin', scope: 'images:write', on: 'nothing' }, retry: 'same', handler: deleteImage },
  { operation: 'PutSecret', method: 'PUT', path: SECRET, kind: 'unary', access: { role: 'owner', scope: 'secrets:write', on: 'owner' }, retry: 'same', handler: putSecret },
  { operation: 'GetSecret', method: 'GET', path: SECRET, kind: 'unary', access: { role: 'owner', scope: 'secrets:read', on: 'owner' }, retry: 'read', handler: getSecret },
  { operation: 'ListSecrets', method: 'GET', path: '/v1/secrets', kind: 'unary', access: { role: 'owner', scope: 'secrets:read', on: 'owner' }, retry: 'read', handler: listSecrets },
  { operation: 'DeleteSecret', method: 'DELETE', path: SECRET, kind: 'unary', access: { role: 'owner', scope: 'secrets:write', on: 'owner' }, retry: 'same', handler: deleteSecret },
  { operation: 'CreateKey', method: 'POST', path: '/v1/keys', kind: 'unary', access: { role: 'owner', scope: 'keys:write', on: 'new-key' }, retry: 'key', handler: createKey },
  { operation: 'ListKeys', method: 'GET', path: '/v1/keys', kind: 'unary', access: { role: 'owner', scope: 'keys:write', on: 'owner' }, retry: 'read', handler: listKeys },
  { operation: 'RevokeKey', method: 'DELETE', path: '/v1/keys/{key_id}', kind: 'unary', access: { role: 'owner', scope: 'keys:write', on: 'key' }, retry: 'same', handler: revokeKey },
  { operation: 'CreateTicket', method: 'POST', path: '/v1/tickets', kind: 'unary', access: { role: 'agent', on: 'nothing' }, retry: 'again', handler: createTicket },
  { operation: 'GetCaller', method: 'GET', path: '/v1/caller', kind: 'unary', access: { role: 'agent', on: 'nothing' }, retry: 'read', handler: getCaller },
  { operation: 'SetOwnerLimits', method: 'PUT', path: '/v1/owners/{owner_id}/limits', kind: 'unary', access: { role: 'admin', scope: 'owners:write', on: 'nothing' }, retry: 'same', handler: setOwnerLimits },
  { operation: 'GetOwnerLimits', method: 'GET', path: '/v1/owners/{owner_id}/limits', kind: 'unary', access: { role: 'owner', on: 'owner' }, retry: 'read', handler: getOwnerLimits },
  { operation: 'Health', method: 'GET', path: '/health', kind: 'unary', access: { role: 'public' }, retry: 'read', handler: health },
];
