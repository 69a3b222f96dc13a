import {
  type BigIntStats,
  chownSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  openSync,
} from 'node:fs';

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
export function give(fd: number, owner: Owner | undefined): void {
  if (owner) unlessRefused(() => fchownSync(fd, owner.uid, owner.gid));
}

/**
 * Gives a directory or a symlink that was made here to its owner. The threat: another user who may write to the directory
 * puts a link to a file of root in its place. So it is held while it is looked at, and given only if it is no file.
 */
export function giveAt(path: string, owner: Owner | undefined): void {
  if (!owner) return;
  const { uid, gid } = owner;
  if (process.platform !== 'linux') {
    unlessRefused(() => lchownSync(path, uid, gid));
    return;
  }
  const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (stat.isFile() || stat.uid !== process.geteuid?.()) return;
    unlessRefused(() => chownSync(`/proc/self/fd/${fd}`, uid, gid));
  } finally {
    closeSync(fd);
  }
}

/** Of Linux; Node has no name for it. */
const O_PATH = 0o10000000;

/** File systems without owners; root of a user namespace, who has not all of them; no /proc. */
function unlessRefused(change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'ENOTSUP', 'ENOSYS', 'ENOENT'].includes(codeOf(error))) throw error;
  }
}

export const codeOf = (error: unknown): string => String((error as { code?: unknown }).code);
