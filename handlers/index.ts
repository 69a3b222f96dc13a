import * as changes from './changes.ts';
import * as checkpoints from './checkpoints.ts';
import * as codebaseFiles from './codebase-files.ts';
import * as codebases from './codebases.ts';
import { createSandbox } from './create-sandbox.ts';
import { tableOf } from './declaration.ts';
import { exec } from './exec.ts';
import { execStream } from './exec-stream.ts';
import * as files from './files.ts';
import { fork } from './fork.ts';
import { health } from './health.ts';
import * as images from './images.ts';
import * as keys from './keys.ts';
import * as network from './network.ts';
import * as owners from './owners.ts';
import * as permissions from './permissions.ts';
import * as ports from './ports.ts';
import * as processes from './processes.ts';
import * as sandboxes from './sandboxes.ts';
import * as secrets from './secrets.ts';
import { sessionExec } from './session-exec.ts';
import { sessionExecStream } from './session-exec-stream.ts';
import * as sessions from './sessions.ts';
import { updateSandbox } from './update-sandbox.ts';
import { watchNetwork } from './watch-network.ts';

export { type Cursor, type Operation, PLAIN_BODY } from './declaration.ts';
export type { Handler, HandlerContext, HandlerEvent } from './define.ts';

/** Everything the service does; the adapters mount this table. Each operation is declared with its handler. */
export const operations = tableOf([
  ...Object.values(sandboxes),
  ...Object.values(permissions),
  ...Object.values(processes),
  ...Object.values(ports),
  ...Object.values(sessions),
  ...Object.values(network),
  ...Object.values(changes),
  ...Object.values(checkpoints),
  ...Object.values(files),
  ...Object.values(codebases),
  ...Object.values(codebaseFiles),
  ...Object.values(images),
  ...Object.values(secrets),
  ...Object.values(keys),
  ...Object.values(owners),
  exec,
  execStream,
  sessionExec,
  sessionExecStream,
  watchNetwork,
  createSandbox,
  fork,
  updateSandbox,
  health,
]);
