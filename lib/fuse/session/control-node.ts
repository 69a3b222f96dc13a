import { constants } from 'node:fs';
import { ENOSYS, EPERM } from '../../linux/errno.ts';
import type { Attr } from '../filesystem.ts';
import { IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import { encodeAttrOut, encodeEntry } from '../protocol/replies.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';

/** File systems count their node ids up from 2 and never get here. */
export const CONTROL_NODEID = Number.MAX_SAFE_INTEGER;

const NEVER = { sec: 0, nsec: 0 };

/**
 * An empty file in the root, not listed and found only by the server's own uid under a name nobody knows. The main
 * thread keeps it open: a NOTIFY_RETRIEVE for it makes the kernel send a NOTIFY_REPLY, which wakes a reader that sleeps
 * in read(2) (the kernel takes this for regular files in its inode cache only).
 */
export class ControlNode {
  readonly #name: Buffer;
  readonly #uid: number;
  readonly #attr: Attr;

  constructor(name: string, uid: number) {
    this.#name = Buffer.from(`${name}\0`, 'latin1');
    this.#uid = uid;
    this.#attr = {
      ino: CONTROL_NODEID,
      size: 0,
      blocks: 0,
      atime: NEVER,
      mtime: NEVER,
      ctime: NEVER,
      mode: constants.S_IFREG | 0o400,
      nlink: 1,
      uid,
      gid: 0,
      rdev: 0,
    };
  }

  /** Whether a LOOKUP in the root asks for it. */
  isLookup({ request, length, caller }: Exchange): boolean {
    return (
      length === IN_HEADER_SIZE + this.#name.length &&
      caller.uid === this.#uid &&
      this.#name.compare(request, IN_HEADER_SIZE, length) === 0
    );
  }

  lookup({ reply }: Exchange): number {
    return encodeEntry(reply, OUT_HEADER_SIZE, { nodeid: CONTROL_NODEID, attr: this.#attr });
  }

  /** Requests about the node itself: it can be looked at, opened and forgotten. */
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
