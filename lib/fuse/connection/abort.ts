import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

const CONNECTIONS = '/sys/fs/fuse/connections';
/** Mounts fusectl in a mount namespace of its own, so that the mounts of the host do not change. */
const SCRIPT = `mount -i -t fusectl none ${CONNECTIONS} && echo 1 >"${CONNECTIONS}/$1/abort"`;

/**
 * Aborts a FUSE connection: every pending request fails at once with ECONNABORTED, and the kernel sends no further
 * ones. `number`: the connection's number, which is the minor device number of its mounts; it works without a mounted
 * path. Returns false if the connection does not exist any more or this user may not abort it.
 *
 * Source: https://docs.kernel.org/filesystems/fuse/fuse.html#the-control-filesystem
 */
export async function abortConnection(number: number): Promise<boolean> {
  try {
    await writeFile(`${CONNECTIONS}/${number}/abort`, '1', { flag: 'r+' });
    return true;
  } catch {
    // The connection does not exist, or fusectl is not mounted, as on most hosts without systemd.
  }
  return new Promise((resolve) => {
    const child = spawn('unshare', ['--mount', '/bin/sh', '-c', SCRIPT, 'sh', `${number}`], {
      cwd: '/',
      stdio: 'ignore',
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}
