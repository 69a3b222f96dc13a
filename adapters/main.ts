import { writeSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';
import { runUnzstd } from '../lib/archive/unzstd.ts';
import { runTreeExport } from '../lib/codebases/archive/tree-export.ts';
import { runTreeImport } from '../lib/codebases/archive/tree-import.ts';
import { asksToVerify, type Invocation, loadConfig } from '../lib/config/load.ts';
import { ConfigError } from '../lib/config/read.ts';
import { runFuseNotifier, runFuseWorker } from '../lib/workspaces/worker.ts';
import { checkHealth } from './check-health.ts';
import { createKey } from './create-key.ts';
import { serve } from './serve.ts';
import { verify } from './verify.ts';

/** The bundle is a single file. It is the server and, by role, each of the worker threads. */
const WORKERS: Readonly<Record<string, (data: unknown) => void>> = {
  fuse: runFuseWorker,
  'fuse-notifier': runFuseNotifier,
  'tree-import': runTreeImport,
  'tree-export': runTreeExport,
  unzstd: runUnzstd,
};

if (isMainThread) await main();
else WORKERS[(workerData as { role: string }).role]?.(workerData);

async function main(): Promise<void> {
  const invocation = readInvocation();
  if (!invocation) return;
  if (invocation.action === 'version') writeSync(1, `paddock ${PADDOCK_VERSION}\n`);
  else if (invocation.action === 'help') writeSync(1, invocation.usage);
  else if (invocation.action === 'verify') await verify(invocation);
  else if (invocation.action === 'create-key') createKey(invocation);
  else if (invocation.action === 'health') await checkHealth(invocation);
  else await serve(invocation, { version: PADDOCK_VERSION, entry: new URL(import.meta.url) });
}

function readInvocation(): Invocation | undefined {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    writeSync(2, `paddock: ${error.message}\n`);
    process.exitCode = asksToVerify() ? 2 : 1;
    return undefined;
  }
}
