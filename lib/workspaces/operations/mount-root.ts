import type { Attr, Caller, EmitDirent } from '../../fuse/filesystem.ts';
import { EACCES } from '../../linux/errno.ts';
import { S_IFDIR } from '../../linux/mode.ts';
import { ROOT_NODEID } from '../nodes/node-table.ts';
import { DT_DIR } from './directory.ts';

const LONG_AGO = { sec: 0, nsec: 0 };

/** The directory that holds the workspaces: everyone may pass through it, nothing of it changes. */
export function rootAttr(): Attr {
  const times = { atime: LONG_AGO, mtime: LONG_AGO, ctime: LONG_AGO };
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

/** Which sandboxes there are is nobody's to list. */
export function readRoot(caller: Caller, cookie: number, emit: EmitDirent): void {
  if (caller.uid !== 0) throw EACCES;
  if (cookie < 1 && !emit('.', 1, ROOT_NODEID, DT_DIR, undefined)) return;
  if (cookie < 2) emit('..', 2, ROOT_NODEID, DT_DIR, undefined);
}
