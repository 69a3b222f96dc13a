import { inotifyWatches } from '../linux/inotify-watches.ts';
import { type SharedMappings, sharedMappings, type Turn } from '../linux/shared-mappings.ts';
import type { Executor } from './executor/executor.ts';
import { ownProc } from './own-proc.ts';

type Asked = Pick<Executor, 'ask'>;
/** Pids inside of processes that are not looked at, besides the executor's. */
type Base = readonly number[];

/** See `RunningSandbox.sharedMappings`. */
export async function mappingsOf(
  executor: Asked,
  device: string,
  turn: Turn,
  base: Base = [],
): Promise<SharedMappings> {
  const { proc, resting } = await processesOf(executor, turn, base);
  return sharedMappings(proc, device, turn, resting);
}

/** See `RunningSandbox.inotifyWatches`. */
export async function watchesOf(
  executor: Asked,
  device: string,
  turn: Turn,
  base: Base = [],
): Promise<ReadonlySet<number>> {
  const { proc, resting } = await processesOf(executor, turn, base);
  return inotifyWatches(proc, device, turn, resting);
}

/**
 * The shells of the executor that wait for a command, and the processes with the pids `base` inside, map and watch no file of the
 * workspace, so they are not looked at: in most sandboxes there are no others.
 */
async function processesOf(
  executor: Asked,
  turn: Turn,
  base: Base,
): Promise<{ proc: string; resting: ReadonlySet<string> }> {
  const { proc, idle } = await turn(() => executor.ask((pid, idle) => ({ proc: ownProc(pid), idle })));
  return { proc, resting: new Set([...base, ...idle].map(String)) };
}
