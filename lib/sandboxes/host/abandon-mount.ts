import { spawnSync } from 'node:child_process';

const PATIENCE_MS = 1000;

/**
 * For the end of a process that cannot end in order. -f fails every request under way, which also wakes the thread
 * that is parked in a read of the device and would hold exit() for ever; -l takes the mount out of sight.
 */
export function abandonMount(mountPoint: string): void {
  for (const flag of ['-f', '-l']) {
    spawnSync('umount', [flag, mountPoint], { stdio: 'ignore', timeout: PATIENCE_MS, killSignal: 'SIGKILL', env: {} });
  }
}
