import { readFileSync } from 'node:fs';
import { ServiceError } from '../../errors.ts';
import { isHostFault } from '../../host-error.ts';

const NO_CAPABILITIES = '0000000000000000';

/**
 * Checks the kernel's view of a container's main process before its first command: a daemon that changed the user
 * (rootless, remapped) or omitted a part of the isolation is refused. Throws FAILED_PRECONDITION, naming the part.
 */
export function checkPosture(status: string, uid: number): void {
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1] ?? '';
  const users = `${uid}\t${uid}\t${uid}\t${uid}`;
  const wrong = [
    field('Uid') !== users && 'the user',
    field('Gid') !== users && 'the group',
    ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].some((set) => field(`Cap${set}`) !== NO_CAPABILITIES) && 'the capabilities',
    field('NoNewPrivs') !== '1' && 'no-new-privileges',
    field('Seccomp') !== '2' && 'the system call filter',
  ].filter((each) => each !== false);
  if (wrong.length === 0) return;
  throw new ServiceError(
    'FAILED_PRECONDITION',
    `docker runtime: the daemon did not apply ${wrong.join(', ')} asked for`,
  );
}

/** /proc/PID/status of a host process; empty if it has exited. Throws an errno of the host that says nothing about it. */
export function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch (error) {
    if (isHostFault(error)) throw error;
    return '';
  }
}
