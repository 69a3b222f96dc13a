import { constants } from 'node:fs';
import { ENOSYS, EPERM } from '../../linux/errno.ts';
import type { Attr } from '../filesystem.ts';
import { IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import { encodeAttrOut, encodeEntry } from '../protocol/replies.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';

/** Outside the range of node ids that a file system allocates. */
export const CONTROL_NODEID = Number.MAX_SAFE_INTEGER;

const EPOCH = { sec: 0, nsec: 0 };

/**
 * An empty, unlisted file in the root of the mount. Only the server's uid can look it up, under a random name. The main
 * thread keeps it open: a FUSE_NOTIFY_RETRIEVE for it makes the kernel send a NOTIFY_REPLY, which wakes the request
 * worker from read(2). The kernel accepts FUSE_NOTIFY_RETRIEVE only for a regular file in its inode cache.
 */
export class ControlNode {
  readonly #name: Buffer;
  readonly #uid: number;
  readonly #attr: Attr;

  /** `name`: the name in the root; `uid`: the only user that can look it up. */
  constructor(name: string, uid: number) {
    this.#name = Buffer.from(`${name}\0`, 'latin1');
    this.#uid = uid;
    this.#attr = {
      ino: CONTROL_NODEID,
      size: 0,
      blocks: 0,
      atime: EPOCH,
      mtime: EPOCH,
      ctime: EPOCH,
      mode: constants.S_IFREG | 0o400,
      nlink: 1,
      uid,
      gid: 0,
      rdev: 0,
    };
  }

  /** Whether a LOOKUP in the root is for the control node and by its user. */
  isLookup({ request, length, caller }: Exchange): boolean {
    return (
      length === IN_HEADER_SIZE + this.#name.length &&
      caller.uid === this.#uid &&
      this.#name.compare(request, IN_HEADER_SIZE, length) === 0
    );
  }

  /** Encodes the reply to that LOOKUP and returns its size in bytes. */
  lookup({ reply }: Exchange): number {
    return encodeEntry(reply, OUT_HEADER_SIZE, { nodeid: CONTROL_NODEID, attr: this.#attr });
  }

  /**
   * Serves a request for the node itself: it can be opened, read (it is empty) and forgotten. Returns the size of the
   * reply's body in bytes or NO_REPLY. Throws EPERM for SETATTR and ENOSYS for other operations.
   */
  run(opcode: number, { reply }: Exchange): number {
    switch (opcode) {
      case Opcode.GETATTR:
        return encodeAttrOut(reply, OUT_HEADER_SIZE, this.#attr);
      case Opcode.FORGET:
        return NO_REPLY;
      case Opcode.READ:
      case Opcode.RELEASE:
      case Opcode.FSYNC:
        return 0;
      case Opcode.SETATTR:
        throw EPERM;
      default:
        throw ENOSYS;
    }
  }
}
