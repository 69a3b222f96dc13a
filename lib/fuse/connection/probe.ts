import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../errors.ts';
import { mountDevice, unmountAll } from './mount.ts';
import { openDevice } from './open-device.ts';

/** Rejects with FAILED_PRECONDITION, in one line, when this process cannot serve a FUSE mount. */
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
      // Closing first aborts the connection; an INIT that nobody answers would hold up umount.
      await device.close();
    }
  } finally {
    await unmountAll(directory);
    await rmdir(directory);
  }
}
