import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { mount, unmount, unmountSync } from '../../linux/mount.ts';
import { findMount, type MountInfo } from '../../linux/mountinfo.ts';
import { run } from '../../linux/run.ts';

const FSNAME = 'workspace';
const READ_AHEAD_KB = 4096;
/** The child of `mount` has the device as its descriptor 3. */
const OPTIONS = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,nosuid,nodev';
const ABANDON_MS = 1000;

/**
 * Mounts an open /dev/fuse. Nothing answers yet: until a worker does, everything that touches the directory waits.
 * Rejects with the message of mount(8). The caller owns the mount and removes it with `unmountAll`.
 */
export async function mountDevice(fd: number, mountPoint: string): Promise<void> {
  await mount({ type: 'fuse', options: OPTIONS, source: FSNAME, mountPoint, fd3: fd });
}

/**
 * Removes every workspace mount from `mountPoint` without waiting for its users. `force` aborts the connection, which
 * fails all pending requests with ECONNABORTED; where it is not permitted (user namespaces), closing the device does.
 */
export async function unmountAll(mountPoint: string): Promise<void> {
  while (isWorkspaceMount(await findMount(mountPoint))) {
    try {
      await unmount(mountPoint, 'force');
    } catch {
      await unmount(mountPoint, 'detach').catch(async (error: unknown) => {
        if (isWorkspaceMount(await findMount(mountPoint))) throw error;
      });
    }
  }
}

/**
 * Unmounts in a process that cannot shut down in order; blocks for at most two seconds. `force` fails every pending
 * request, which also wakes the thread that is blocked in a read of the device and would block exit(2).
 */
export function abandonMount(mountPoint: string): void {
  for (const mode of ['force', 'detach'] as const) unmountSync(mountPoint, mode, ABANDON_MS);
}

/**
 * Removes the mount of a server that was killed. It fails every operation with ENOTCONN, so it is looked up in the mount
 * table and not touched.
 */
export async function clearStaleMount(mountPoint: string): Promise<void> {
  await unmountAll(resolve(mountPoint));
}

function isWorkspaceMount(mount: MountInfo | undefined): boolean {
  return mount?.type === 'fuse' && mount.source === FSNAME;
}

/** The connection number of the workspace mount on exactly this path: the minor device number of its files. */
export async function connectionAt(mountPoint: string): Promise<number | undefined> {
  const mount = await findMount(resolve(mountPoint));
  const minor = Number(mount?.device.split(':')[1]);
  return isWorkspaceMount(mount) && minor > 0 ? minor : undefined;
}

/** Makes the directory and its missing parents, passable but not listable for others. */
export async function makeMountPoint(mountPoint: string): Promise<void> {
  const missing: string[] = [];
  for (let path = mountPoint; !(await exists(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path);
    await chmod(path, 0o711);
  }
}

/** The kernel's default is 128 KiB. Only makes sequential reads faster, so a refusal (no sysfs) is ignored. */
export async function raiseReadAhead(mountPoint: string): Promise<void> {
  const mount = await findMount(mountPoint);
  if (mount) await writeFile(`/sys/class/bdi/${mount.device}/read_ahead_kb`, String(READ_AHEAD_KB)).catch(() => {});
}

/**
 * Asks once for everything that is answered ENOSYS for ever, so that no program's first request is different. A child
 * does it: a process that waits for its own mount while it is killed never ends. Dies with the server at the latest.
 */
export async function primeMount(mountPoint: string, file: string): Promise<void> {
  // Opens, reads and closes the file; lists the directory; getxattr and statx come from ls.
  const script = 'read -r _ <"$1/$2"; exec ls -ld --time=birth "$1/$2"';
  await run('/bin/sh', ['-c', script, 'sh', mountPoint, file]);
}

/** Writes back what programs changed in mapped pages. A child does it, as in `primeMount`. */
export async function syncMount(mountPoint: string): Promise<void> {
  await run('sync', ['-f', mountPoint]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}
