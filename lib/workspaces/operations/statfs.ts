import type { StatFs } from '../../fuse/filesystem.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import { blocksLeft } from '../delta/delta-directory.ts';
import type { Workspace } from '../workspace.ts';

const BLOCK = 4096;
/** Number of inodes if there is no quota: large enough for every program. */
const MANY_FILES = 2 ** 32;

/**
 * STATFS: the quota of the sandbox for both of its directories, or the room of its owner or of the host's disk, without its reserve, if
 * that is less. `undefined` is the mount's root, which has no space.
 */
export function statfs(workspace: Workspace | undefined): StatFs {
  if (workspace === undefined)
    return { blocks: 0, bfree: 0, bavail: 0, files: 0, ffree: 0, bsize: BLOCK, namelen: MAX_NAME_BYTES };
  const { room, spec } = workspace;
  const most = Math.min(room.ownerRoom, room.diskRoom);
  const host = Math.min(blocksLeft(spec.delta, BLOCK), Math.max(0, Math.floor(most / BLOCK)));
  const held = room.used;
  const used = Math.ceil(held.bytes / BLOCK);
  const blocks = spec.maxBytes > 0 ? Math.ceil(spec.maxBytes / BLOCK) : used + host;
  const bfree = Math.max(0, Math.min(blocks - used, host));
  const files = spec.maxFiles > 0 ? spec.maxFiles : MANY_FILES;
  const ffree = Math.max(0, files - held.files);
  return { blocks, bfree, bavail: bfree, files, ffree, bsize: BLOCK, namelen: MAX_NAME_BYTES };
}
