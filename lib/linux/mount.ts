import { spawnSync } from 'node:child_process';
import { run } from './run.ts';

export interface MountRequest {
  type: string;
  /** Argument of -o of mount(8): options separated by commas. */
  options: string;
  /** Shown by mountinfo as the source. */
  source: string;
  /** Absolute; an existing directory. */
  mountPoint: string;
  /** Passed to mount(8) as descriptor 3, which the options or the source refer to. The caller closes it. */
  fd3?: number;
}

/** Source of a bind mount: what descriptor 3 of the request is open on. */
export const FD3 = '/proc/self/fd/3';

/**
 * Flag of umount2(2). `force` (MNT_FORCE): FUSE fails every pending request; refused with EBUSY if the
 * mount is in use. `detach` (MNT_DETACH): removes the mount from the tree at once, even if it is in use.
 */
export type UnmountMode = 'force' | 'detach';

/**
 * -i (--internal-only): no helper program, which might access the mount. -c (--no-canonicalize): the path is not resolved,
 * which could block on a file system that does not answer.
 */
const UNMOUNT_FLAGS = { force: ['-i', '-c', '-f'], detach: ['-i', '-c', '-l'] } as const;

/**
 * Mounts a file system: mount(8), mount(2). Does not wait for the file system to answer. Needs CAP_SYS_ADMIN in the mount
 * namespace; rejects with an Error that has the message of mount(8). The caller owns the mount and unmounts it.
 */
export async function mount({ type, options, source, mountPoint, fd3 }: MountRequest): Promise<void> {
  // Resolved, the source would be a path, where something else may be by now.
  const flags = source === FD3 ? ['-i', '-c'] : ['-i'];
  const { code, stderr } = await run('mount', [...flags, '-t', type, '-o', options, source, mountPoint], fd3);
  if (code !== 0) throw new Error(`mount on ${mountPoint}: ${stderr || `exit code ${code}`}`);
}

/**
 * Removes the topmost mount at an absolute path without symlinks: umount(8), umount2(2). Rejects with an Error that has the
 * message of umount(8): not mounted, in use (`force` only) or not permitted.
 */
export async function unmount(mountPoint: string, mode: UnmountMode): Promise<void> {
  const { code, stderr } = await run('umount', [...UNMOUNT_FLAGS[mode], mountPoint]);
  if (code !== 0) throw new Error(`umount ${mountPoint}: ${stderr || `exit code ${code}`}`);
}

/**
 * As `unmount`, for a process that is about to exit: blocks the thread, for at most `timeoutMs` milliseconds if given,
 * and ignores a failure.
 */
export function unmountSync(mountPoint: string, mode: UnmountMode, timeoutMs?: number): void {
  spawnSync('umount', [...UNMOUNT_FLAGS[mode], mountPoint], {
    cwd: '/',
    stdio: 'ignore',
    killSignal: 'SIGKILL',
    timeout: timeoutMs,
  });
}
