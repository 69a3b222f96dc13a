import type { ResourceLimits } from '../contract/messages.ts';
import type { OwnerResources } from './runtime.ts';

/** The environment of a command in a sandbox, common to all runtimes. */

export const HOME = '/home/sandbox';

/** All environment variables of a command, apart from those of its request. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME,
  USER: 'sandbox',
  LOGNAME: 'sandbox',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

/** Sizes in bytes of the temporary file systems; their pages also count towards `memory_bytes`. That of /tmp is a default. */
export const TMP_BYTES = 256 * 1024 * 1024;
export const SHM_BYTES = 64 * 1024 * 1024;

/** The line on stderr of a command that the OOM killer ended. */
export function outOfMemoryLine({ memory_bytes }: ResourceLimits, owner?: OwnerResources): string {
  if (owner !== undefined && owner.memory_bytes > 0) {
    const own = memory_bytes === 0 ? '' : `the sandbox's memory limit of ${memory_bytes} bytes (memory_bytes), or `;
    return `out of memory: ${own}the limit of ${owner.memory_bytes} bytes for all sandboxes of its owner was reached\n`;
  }
  return `out of memory: the sandbox's memory limit of ${memory_bytes} bytes (memory_bytes) was reached\n`;
}
