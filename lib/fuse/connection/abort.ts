import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

const CONNECTIONS = '/sys/fs/fuse/connections';
/** In a mount namespace of its own, which ends with it: the machine's mounts stay as they are. */
const SCRIPT = `mount -i -t fusectl none ${CONNECTIONS} && echo 1 >"${CONNECTIONS}/$1/abort"`;

/**
 * Aborts a FUSE connection (https://docs.kernel.org/filesystems/fuse/fuse.html#the-control-filesystem): every request
 * that waits for an answer fails at once, and no other is taken. By its number, the minor device number of its mounts;
 * so also where none is left at a path. False: it is gone already, or this user may not.
 */
export async function abortConnection(number: number): Promise<boolean> {
  try {
    await writeFile(`${CONNECTIONS}/${number}/abort`, '1', { flag: 'r+' });
    return true;
  } catch {
    // Gone, or the control file system is not mounted, as on most machines without a service manager.
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
