import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * What worker threads run, by the role in their `workerData`: a module that selects it, or the text of a script for each
 * role. A thread keeps in memory all that its script consists of, also what it never calls.
 */
export type ThreadEntry = URL | ((role: string) => string);

/** Starts a worker thread. The caller terminates it. */
export function startThread(
  entry: ThreadEntry,
  workerData: { role: string },
  options: Pick<WorkerOptions, 'transferList' | 'resourceLimits'> = {},
): Worker {
  const all = { ...options, workerData, execArgv: [] };
  return entry instanceof URL ? new Worker(entry, all) : new Worker(entry(workerData.role), { ...all, eval: true });
}
