import type { ResourceLimits } from '../messages.ts';

/** What a command finds in a sandbox of any runtime. */

export const HOME = '/home/sandbox';

/** The whole environment a command starts with, before its request's own. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME,
  USER: 'sandbox',
  LOGNAME: 'sandbox',
  SHELL: '/bin/sh',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
};

/** Sizes of the temporary file systems; their pages count for `memory_bytes` too. */
export const TMP_BYTES = 256 * 1024 * 1024;
export const HOME_BYTES = 256 * 1024 * 1024;
export const SHM_BYTES = 64 * 1024 * 1024;

/** The line on stderr of a command that the kernel killed for memory. */
export function outOfMemoryLine({ memory_bytes }: ResourceLimits): string {
  return `out of memory: the sandbox's memory limit of ${memory_bytes} bytes (memory_bytes) was reached\n`;
}
