import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** FUSE_DEV_IOC_CLONE (include/uapi/linux/fuse.h): attaches descriptor 3 to the connection of descriptor 4. */
const SCRIPT = 'open(my $new, "+<&=", 3) or die; my $old = pack("L", 4); ioctl($new, 0x8004e500, $old) or die "$!\\n"';

/**
 * Opens a second, non-blocking descriptor of a mounted connection. Node has no ioctl(2), so perl makes the call; Debian
 * and Ubuntu always have it. Returns undefined if that fails. The reply to a request must be written to the descriptor
 * that the request was read from. The caller closes the descriptor; the connection ends when both are closed.
 */
export async function cloneDevice(device: FileHandle): Promise<FileHandle | undefined> {
  const clone = await open('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK).catch(() => undefined);
  if (clone === undefined) return undefined;
  // Rejects, for example with ENOMEM, if spawn throws.
  if (await join(clone, device).catch(() => false)) return clone;
  await clone.close();
  return undefined;
}

function join(clone: FileHandle, device: FileHandle): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('perl', ['-e', SCRIPT], {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', clone.fd, device.fd],
    });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(code === 0));
  });
}
