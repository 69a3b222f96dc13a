/**
 * An example of each request, by the id of the operation. `$SANDBOX` and the like are variables of the shell, which the
 * text of /docs tells how to set. `path`: parameters of the path that have no variable. `file`: the body, a file in the
 * present directory; `form`: the fields of a form; `curl`: further arguments.
 *
 * @type {Record<string, { path?: object, query?: object, body?: object, file?: string, form?: object, curl?: string }>}
 */
export const examples = {
  CreateSandbox: {
    body: { codebase_id: '$CODEBASE', rules: { write: ['**'], read: ['LICENSE'], none: ['**/.env*'] } },
  },
  ListSandboxes: { query: { status: 'SANDBOX_RUNNING', page_size: 20 } },
  UpdateSandbox: { body: { labels: { ticket: '1234', draft: null }, expires_in: 3600 } },
  DestroySandbox: { query: { discard: true } },
  Exec: { body: { command: 'ls -l', timeout: 10 } },
  ExecStream: { body: { command: 'for i in 1 2 3; do echo $i; done' }, curl: '-N' },
  StartProcess: {
    body: { command: 'while read line; do echo "got $line"; done', terminal: { columns: 80, rows: 24 } },
  },
  SignalProcess: { body: { signal: 'SIGTERM' } },
  ResizeTerminal: { body: { columns: 100, rows: 30 } },
  ReadProcessOutput: { query: { offset: 0, wait: 1000 } },
  WatchProcess: { query: { offset: 0 }, curl: "-N -H 'accept: text/event-stream'" },
  WriteProcessInput: { file: 'input.txt' },
  OpenPort: { body: { port: 8000, access: 'link', expires_in: 3600 } },
  ListPorts: { query: { opened: true } },
  GetPort: { path: { port: 8000 } },
  ClosePort: { path: { port: 8000 } },
  WaitPort: { query: { port: 8000, wait: 1000 } },
  AttachProcess: {
    query: { offset: 0 },
    curl: `-N -m 3 -o - -H 'connection: upgrade' -H 'upgrade: websocket' -H 'sec-websocket-version: 13' -H 'sec-websocket-key: cGFkZG9jayBpcyBoZXJlIQ=='`,
  },
  CreateSession: { body: { env: { EDITOR: 'vi' } } },
  SessionExec: { body: { command: 'cd src; pwd' } },
  SessionExecStream: { body: { command: 'pwd' }, curl: '-N' },
  UpdatePermissions: { body: { preset: 'agent-safe' } },
  ExplainPermission: { query: { path: 'src/main.py' } },
  UpdateNetwork: {
    body: { mode: 'none' },
  },
  ExplainNetwork: { query: { host: 'registry.npmjs.org' } },
  WatchNetwork: { query: { denied_only: true }, curl: "-N -H 'accept: text/event-stream'" },
  ExportChanges: { query: { format: 'patch' } },
  ListChanges: { query: { page_size: 50 } },
  Commit: { body: { paths: ['src'], dry_run: true } },
  Discard: { body: { paths: ['src'] } },
  CreateCheckpoint: { body: { name: 'before' } },
  DeleteCheckpoint: { path: { name: 'before' } },
  Rollback: { body: { checkpoint: 'before' } },
  Fork: { body: { count: 2 } },
  PreviewFile: { query: { path: 'src/main.py' } },
  StatFile: { query: { path: 'src/main.py' } },
  ReadFile: { path: { path: 'src/main.py' } },
  ReadFileHead: { path: { path: 'src/main.py' } },
  WriteFile: { path: { path: 'src/new.py' }, file: 'main.py' },
  DeleteFile: { path: { path: 'src/new.py' } },
  ExportFiles: { query: { format: 'tar', path: 'src' }, curl: '-o src.tar' },
  ListDirectory: { query: { path: 'src', recursive: true } },
  ImportFiles: { query: { path: 'vendor', format: 'tar' }, file: 'files.tar' },
  MakeDirectory: { body: { path: 'docs/notes', parents: true } },
  MoveFile: { body: { from: 'src/main.py', to: 'src/app.py' } },
  CreateCodebase: { body: { name: 'hello', owner_id: 'ann' } },
  ListCodebases: { query: { owner_id: 'ann' } },
  UploadFile: { form: { path: 'src/main.py', file: '@main.py' } },
  DownloadFile: { path: { file_path: 'src/main.py' } },
  DownloadFileHead: { path: { file_path: 'src/main.py' } },
  ExportCodebaseFiles: { query: { format: 'tar' }, curl: '-o codebase.tar' },
  ListFiles: { query: { recursive: true } },
  UploadFilePut: { path: { file_path: 'src/main.py' }, file: 'main.py' },
  ImportCodebaseFiles: { query: { format: 'tar' }, file: 'files.tar' },
  RemoveFile: { path: { file_path: 'src/main.py' } },
  ImportImage: { path: { name: 'tools:1' }, file: 'image.tar' },
  GetImage: { path: { name: 'tools:1' } },
  DeleteImage: { path: { name: 'tools:1' } },
  PutSecret: { path: { name: 'github' }, body: { value: 'ghp_example', hosts: ['api.github.com'], shape: 'ghp_' } },
  GetSecret: { path: { name: 'github' } },
  DeleteSecret: { path: { name: 'github' } },
  CreateKey: { body: { name: 'ci', role: 'owner', owner_id: 'ann', expires_in: 86400 } },
  CreateTicket: { body: { path: '/v1/sandboxes/$SANDBOX/files/src/main.py' } },
  SetOwnerLimits: { path: { owner_id: 'ann' }, body: { limits: { commands: 8 } } },
  GetOwnerLimits: { path: { owner_id: 'ann' } },
};

/** Variables that stand for the ids in a path. */
export const VARIABLES = {
  sandbox_id: '$SANDBOX',
  codebase_id: '$CODEBASE',
  process_id: '$PROCESS',
  session_id: '$SESSION',
  key_id: '$KEY_ID',
};

/** What the examples of the document have for the variables of the shell. */
export const SAMPLE_VALUES = { $CODEBASE: 'cb_q8f2k1x0', $SANDBOX: 'sb_m3v9d7ta' };
