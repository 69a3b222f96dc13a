import { mkdirSync, rmSync } from 'node:fs';
import { mount, unmount } from '../linux/mount.ts';
import { findMount } from '../linux/mountinfo.ts';

/** Parent of the directories that hold the agent files of servers. */
export const RUNTIME_DIRECTORY = '/run/paddock';
/**
 * Mount options. The file system holds agent directories and long requests only, so its size is bounded. Its programs are
 * the server's; a sandbox can create nothing in it.
 */
const OPTIONS = 'nosuid,nodev,mode=0711,size=256m';
/** Maximum bytes of long requests; the rest of the file system is for starting sandboxes. */
export const REQUEST_BYTES = 192 * 1024 * 1024;

/**
 * Mounts a dedicated tmpfs for the agent files, so that the mount table inside a sandbox names no host path (for a bind
 * mount, mountinfo shows the path within its file system). Needs root. The caller owns the mount and removes it with
 * `unmountAgentFiles`.
 */
export async function mountAgentFiles(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  await mount({ type: 'tmpfs', options: OPTIONS, source: 'agent', mountPoint: directory });
}

/** Removes the directory and every mount on it, including those of a dead server. No sandbox may be running. */
export async function unmountAgentFiles(directory: string): Promise<void> {
  while (await findMount(directory)) await unmount(directory, 'detach');
  rmSync(directory, { recursive: true, force: true });
}
