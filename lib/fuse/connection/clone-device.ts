import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** FUSE_DEV_IOC_CLONE of include/uapi/linux/fuse.h: descriptor 3 becomes another one of the connection of descriptor 4. */
const SCRIPT = 'open(my $new, "+<&=", 3) or die; my $old = pack("L", 4); ioctl($new, 0x8004e500, $old) or die "$!\\n"';

/**
 * A second descriptor of a mounted connection, one that does not block: Node has no ioctl(2), perl (which every Debian
 * and Ubuntu has) does. undefined where that does not work. What is read from it is answered through it. The caller
 * closes it; the connection lasts until both are closed.
 */
export async function cloneDevice(device: FileHandle): Promise<FileHandle | undefined> {
  const clone = await open('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK);
  const done = await new Promise<boolean>((resolve) => {
    const child = spawn('perl', ['-e', SCRIPT], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', clone.fd, device.fd],
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
  if (done) return clone;
  await clone.close();
  return undefined;
}
