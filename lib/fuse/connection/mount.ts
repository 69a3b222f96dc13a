import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

const FSNAME = 'workspace';
const READ_AHEAD_KB = 4096;
/** Children start here: never in a directory that may be inside the mount. */
const CHILD_CWD = '/';

/**
 * Attaches an open /dev/fuse to a directory. Nothing answers yet: until a worker does, everything that touches the
 * directory waits. mount(8) itself does not.
 */
export async function mountDevice(fd: number, mountPoint: string): Promise<void> {
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions,nosuid,nodev';
  // The child gets the descriptor as its number 3; no other child can inherit it, Node opens all files close-on-exec.
  const { code, stderr } = await run('mount', ['-i', '-t', 'fuse', '-o', options, FSNAME, mountPoint], fd);
  if (code !== 0) throw new Error(`mount on ${mountPoint}: ${stderr || `exit code ${code}`}`);
}

/**
 * Takes every mount of ours off `mountPoint`, without waiting for those who use it. Forcing aborts the connection, which ends all
 * waiting requests with ECONNABORTED; where that is not allowed (user namespaces) closing the device does it.
 */
export async function unmount(mountPoint: string): Promise<void> {
  while (isOurs(await findMount(mountPoint))) {
    // --no-canonicalize: resolving the path would ask a file system that may not answer.
    if ((await run('umount', ['-i', '-c', '-f', mountPoint])).code === 0) continue;
    const { code, stderr } = await run('umount', ['-i', '-c', '-l', mountPoint]);
    if (code !== 0 && isOurs(await findMount(mountPoint))) throw new Error(`umount ${mountPoint}: ${stderr}`);
  }
}

/**
 * Removes what a server that was killed left behind: its mount, which answers ENOTCONN to everything, so it is looked for
 * in the mount table and not touched.
 */
export async function clearStaleMount(mountPoint: string): Promise<void> {
  await unmount(resolve(mountPoint));
}

export interface MountInfo {
  /** "major:minor" of st_dev. */
  device: string;
  type: string;
  source: string;
}

function isOurs(mount: MountInfo | undefined): boolean {
  return mount?.type === 'fuse' && mount.source === FSNAME;
}

/** The number of the connection of our mount on exactly this path. */
export async function connectionAt(mountPoint: string): Promise<number | undefined> {
  const mount = await findMount(resolve(mountPoint));
  const minor = Number(mount?.device.split(':')[1]);
  return isOurs(mount) && minor > 0 ? minor : undefined;
}

/** The topmost mount on exactly this path, if any. */
export async function findMount(mountPoint: string): Promise<MountInfo | undefined> {
  return parseMountInfo(await readFile('/proc/self/mountinfo', 'latin1'), Buffer.from(mountPoint).toString('latin1'));
}

/** https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html; text and path are byte strings. */
export function parseMountInfo(text: string, mountPoint: string): MountInfo | undefined {
  let found: MountInfo | undefined;
  for (const line of text.split('\n')) {
    const fields = line.split(' ');
    const path = fields[4]?.replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    if (path !== mountPoint) continue;
    const [type = '', source = ''] = fields.slice(fields.indexOf('-') + 1);
    found = { device: fields[2] ?? '', type, source };
  }
  return found;
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

function run(command: string, args: readonly string[], fd3?: number): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'ignore', 'pipe', ...(fd3 === undefined ? [] : [fd3])] as const;
    const child = spawn(command, args, { cwd: CHILD_CWD, stdio: [...stdio] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stderr: stderr.trim().replaceAll('\n', '; ') }));
  });
}
