import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../linux/errno.ts';
import { mount, unmount } from '../../linux/mount.ts';
import { findMount } from '../../linux/mountinfo.ts';
import { RUNTIME_DIRECTORY } from '../agent-mount.ts';
import { instanceName } from './instance.ts';

/** Where a server that is root shows its images to the uids of sandboxes. */
export function imageMountPoint(stateDir: string): string {
  return join(RUNTIME_DIRECTORY, `images-${instanceName(stateDir)}`);
}

/**
 * Mounts the directory of images, read-only, at a path that every uid can traverse: the parents of the state directory may
 * be closed to them. Needs root. The caller removes it with `unmountImages`.
 */
export async function mountImages(source: string, mountPoint: string): Promise<void> {
  mkdirSync(mountPoint, { recursive: true, mode: 0o711 });
  await mount({ type: 'none', options: 'bind,ro,nosuid,nodev', source, mountPoint });
}

/** Removes the mount, also that of a dead server, and its empty directory; never files of images. */
export async function unmountImages(mountPoint: string): Promise<void> {
  while (await findMount(mountPoint)) await unmount(mountPoint, 'detach');
  try {
    rmdirSync(mountPoint);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
