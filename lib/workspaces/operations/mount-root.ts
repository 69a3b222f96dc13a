import { DOT, DOT_DOT } from '../../byte-string.ts';
import type { Attr, Caller, EmitDirent } from '../../fuse/filesystem.ts';
import { EACCES } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { ROOT_NODEID } from '../nodes/node-table.ts';
import { DT_DIR } from './directory.ts';

const EPOCH = { sec: 0, nsec: 0 };

/** Attributes of the directory that contains the workspaces: every user may search it, nobody may change it. */
export function rootAttr(): Attr {
  const times = { atime: EPOCH, mtime: EPOCH, ctime: EPOCH };
  return {
    ino: ROOT_NODEID,
    size: 4096,
    blocks: 8,
    ...times,
    mode: S_IFDIR | 0o711,
    nlink: 2,
    uid: 0,
    gid: 0,
    rdev: 0,
  };
}

/** READDIR of the mount's root, which lists nothing. Throws EACCES for users other than root. */
export function readRoot(caller: Caller, cookie: number, emit: EmitDirent): void {
  if (caller.uid !== 0) throw EACCES;
  if (cookie < 1 && !emit(DOT, 1, ROOT_NODEID, DT_DIR, undefined)) return;
  if (cookie < 2) emit(DOT_DOT, 2, ROOT_NODEID, DT_DIR, undefined);
}
