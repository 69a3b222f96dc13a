import { type BigIntStats, constants } from 'node:fs';
import { chown, type FileHandle, lchown, open } from 'node:fs/promises';

export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Who shall own what is written: the owner of what it replaces, or of its directory. Only root may give a file away;
 * others keep the group of what they replace, as far as they are in it. undefined: whoever writes it.
 */
export function ownerOf(replaced: BigIntStats | undefined, directory: BigIntStats): Owner | undefined {
  const own = process.geteuid?.();
  if (own === undefined || (own !== 0 && replaced === undefined)) return undefined;
  const { uid, gid } = replaced ?? directory;
  return { uid: own === 0 ? Number(uid) : own, gid: Number(gid) };
}

/** Gives a file that was made here to its owner. Before its mode is set: a change of owner may clear bits. */
export async function give(handle: FileHandle, owner: Owner | undefined): Promise<void> {
  if (owner) await unlessRefused(handle.chown(owner.uid, owner.gid));
}

/**
 * Gives a directory or a symlink that was made here to its owner. The threat: another user who may write to the directory
 * puts a link to a file of root in its place. So it is held while it is looked at, and given only if it is no file.
 */
export async function giveAt(path: string, owner: Owner | undefined): Promise<void> {
  if (!owner) return;
  if (process.platform !== 'linux') return unlessRefused(lchown(path, owner.uid, owner.gid));
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const stat = await handle.stat();
    if (stat.isFile() || stat.uid !== process.geteuid?.()) return;
    await unlessRefused(chown(`/proc/self/fd/${handle.fd}`, owner.uid, owner.gid));
  } finally {
    await handle.close();
  }
}

/** Of Linux; Node has no name for it. */
const O_PATH = 0o10000000;

/** File systems without owners; root of a user namespace, who has not all of them; no /proc. */
async function unlessRefused(change: Promise<void>): Promise<void> {
  await change.catch((error: { code?: unknown }) => {
    if (!['EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS', 'ENOENT'].includes(String(error.code))) throw error;
  });
}
