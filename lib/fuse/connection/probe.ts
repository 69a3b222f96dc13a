import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { mountDevice, unmountAll } from './mount.ts';
import { openDevice } from './open-device.ts';

/**
 * Mounts and unmounts a FUSE file system in a temporary directory. Rejects with FAILED_PRECONDITION, in one line, if
 * this process is not able or not permitted to.
 */
export async function probeFuse(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'fuse-probe-'));
  try {
    const device = await openDevice();
    try {
      await mountDevice(device.fd, directory);
    } catch (thrown) {
      throw new ServiceError(
        'FAILED_PRECONDITION',
        `mounting a FUSE file system is not permitted (${(thrown as Error).message}): run the server as root, or as an ` +
          'ordinary user inside "unshare --user --map-root-user --mount"; in a container add --cap-add SYS_ADMIN',
        [],
        { cause: thrown },
      );
    } finally {
      // Closing the device first aborts the connection; otherwise umount would wait for the INIT that nobody answers.
      await device.close();
    }
  } finally {
    await unmountAll(directory);
    await rmdir(directory);
  }
}
