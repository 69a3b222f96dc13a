import { writeSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';
import type { Invocation } from '../lib/config/load.ts';

type Run = (data: unknown) => void;

/**
 * The bundle is a single file. It is the server and, by role, each of the worker threads. What a role does not need is not
 * imported: each thread would prepare all of it anew, which takes most of the CPU time of a start, and keep it in memory.
 */
const WORKERS: Readonly<Record<string, () => Promise<Run>>> = {
  fuse: async () => (await import('../lib/workspaces/worker.ts')).runFuseWorker,
  'fuse-notifier': async () => (await import('../lib/workspaces/worker.ts')).runFuseNotifier,
  commit: async () => (await import('../lib/codebases/commits/commit-files.ts')).runCommitFiles,
  'tree-import': async () => (await import('../lib/codebases/archive/tree-import.ts')).runTreeImport,
  'tree-export': async () => (await import('../lib/codebases/archive/tree-export.ts')).runTreeExport,
  network: async () => (await import('../lib/network/worker/run-networks.ts')).runNetworks,
  unzstd: async () => (await import('../lib/archive/unzstd.ts')).runUnzstd,
};

if (isMainThread) await main();
else (await WORKERS[(workerData as { role: string }).role]?.())?.(workerData);

async function main(): Promise<void> {
  const invocation = await readInvocation();
  if (!invocation) return;
  if (invocation.action === 'version') writeSync(1, `paddock ${PADDOCK_VERSION}\n`);
  else if (invocation.action === 'help') writeSync(1, invocation.usage);
  else if (invocation.action === 'verify') await (await import('./verify.ts')).verify(invocation);
  else if (invocation.action === 'create-key') (await import('./create-key.ts')).createKey(invocation);
  else if (invocation.action === 'health') await (await import('./check-health.ts')).checkHealth(invocation);
  else {
    const { serve } = await import('./serve.ts');
    await serve(invocation, { version: PADDOCK_VERSION, entry: new URL(import.meta.url) });
  }
}

async function readInvocation(): Promise<Invocation | undefined> {
  const [{ asksToVerify, loadConfig }, { ConfigError }] = await Promise.all([
    import('../lib/config/load.ts'),
    import('../lib/config/read.ts'),
  ]);
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    writeSync(2, `paddock: ${error.message}\n`);
    process.exitCode = asksToVerify() ? 2 : 1;
    return undefined;
  }
}
