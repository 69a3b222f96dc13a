import { innerPid } from '../../linux/inner-pid.ts';
import { isRunning } from '../../linux/is-running.ts';
import type { ProcessGroups } from '../executor/groups.ts';
import { BASE_PIDS, type Launcher } from './launcher.ts';

/**
 * Whether the end of a sandbox has begun, which that of bwrap will report: its first process, `init`, ends with the agent, and the
 * kernel ends the others with it, which can be seen before. False if in doubt. Never rejects.
 */
export async function isEnding(
  { alive }: Pick<Launcher, 'alive'>,
  init: number | undefined,
  groups: Pick<ProcessGroups, 'basePids'>,
): Promise<boolean> {
  if (!alive) return true;
  if (init === undefined) return false;
  if (!isRunning(init)) return true;
  try {
    const inside = [init, ...(await groups.basePids())].filter(isRunning).map(innerPid);
    // One that cannot be read, because no descriptor is free, may be the agent.
    return !inside.includes(undefined) && !BASE_PIDS.every((pid) => inside.includes(pid));
  } catch {
    return false;
  }
}
