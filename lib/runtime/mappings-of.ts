import { type SharedMappings, sharedMappings, type Turn } from '../linux/shared-mappings.ts';
import type { Executor } from './executor/executor.ts';
import { ownProc } from './own-proc.ts';

/**
 * See `RunningSandbox.sharedMappings`. The shells of the executor that wait for a command, and the processes with the pids
 * `base` inside, map no file of the workspace, so they are not looked at: in most sandboxes there are no others.
 */
export async function mappingsOf(
  executor: Pick<Executor, 'ask'>,
  device: string,
  turn: Turn,
  base: readonly number[] = [],
): Promise<SharedMappings> {
  const { proc, idle } = await turn(() => executor.ask((pid, idle) => ({ proc: ownProc(pid), idle })));
  return sharedMappings(proc, device, turn, new Set([...base, ...idle].map(String)));
}
