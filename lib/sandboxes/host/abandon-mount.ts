import { spawnSync } from 'node:child_process';

const PATIENCE_MS = 1000;

/**
 * Unmounts in a process that cannot shut down in order. -f fails every request in progress, which also wakes the thread
 * that is blocked in a read of the device and would block exit(); -l detaches the mount from the tree. See umount(8).
 */
export function abandonMount(mountPoint: string): void {
  for (const flag of ['-f', '-l']) {
    spawnSync('umount', [flag, mountPoint], { stdio: 'ignore', timeout: PATIENCE_MS, killSignal: 'SIGKILL', env: {} });
  }
}
