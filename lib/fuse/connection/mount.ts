import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ignoreAbsent } from '../../linux/errno.ts';
import { mount, unmount, unmountSync } from '../../linux/mount.ts';
import { findMount, type MountInfo } from '../../linux/mountinfo.ts';
import { run } from '../../linux/run.ts';

const FSNAME = 'workspace';
const READ_AHEAD_KB = 4096;
/** The child of `mount` has the device as its descriptor 3. */
const OPTIONS = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,nosuid,nodev';
const ABANDON_MS = 1000;

/**
 * Mounts an open /dev/fuse. Until INIT is answered, every access to the directory blocks; mount(8) itself does not.
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

/** Creates the directory and its missing parents with mode 0711: other users can pass through but not list them. */
export async function makeMountPoint(mountPoint: string): Promise<void> {
  const missing: string[] = [];
  for (let path = mountPoint; !(await exists(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path);
    await chmod(path, 0o711);
  }
}

/**
 * Raises the mount's read-ahead from the kernel's default of 128 KiB. Errors (no sysfs) are ignored: it only affects
 * the speed of sequential reads.
 */
export async function raiseReadAhead(mountPoint: string): Promise<void> {
  const mount = await findMount(mountPoint);
  if (mount) await writeFile(`/sys/class/bdi/${mount.device}/read_ahead_kb`, String(READ_AHEAD_KB)).catch(() => {});
}

/**
 * Sends one request for each opcode that is answered with ENOSYS, because the kernel treats the first one differently.
 * `file`: a readable file in the root. The requests are made by a child process: a process that is killed while it
 * waits for its own mount never ends. The child ends with the connection at the latest.
 */
export async function primeMount(mountPoint: string, file: string): Promise<void> {
  // `read` sends OPEN, READ, FLUSH and RELEASE; `ls` sends GETXATTR and STATX.
  const script = 'read -r _ <"$1/$2"; exec ls -ld --time=birth "$1/$2"';
  await run('/bin/sh', ['-c', script, 'sh', mountPoint, file]);
}

/** Writes back dirty pages of memory mappings (syncfs(2)) by a child process, as in `primeMount`. */
export async function syncMount(mountPoint: string): Promise<void> {
  await run('sync', ['-f', mountPoint]);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => ignoreAbsent(error) ?? false,
  );
}
