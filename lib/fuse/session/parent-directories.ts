import { constants } from 'node:fs';
import { type ByteString, fromText } from '../../byte-string.ts';
import { EACCES, ENOENT, ESTALE } from '../../linux/errno.ts';
import type { Attr, FileSystem } from '../filesystem.ts';
import { IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE, ROOT_NODEID } from '../protocol/opcodes.ts';
import { encodeAttrOut, encodeEntry } from '../protocol/replies.ts';
import { findStringEnd, readName } from '../protocol/requests.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';

/** Name of a workspace in its parent directory. */
export const WORKSPACE_NAME = fromText('workspace');

/** First node id of a parent directory: above those of file systems, below the control node's. */
const FIRST_NODEID = 2 ** 52;
const EPOCH = { sec: 0, nsec: 0 };

/**
 * Presents each name of the file system's root in a directory of its own, as `NAME/workspace`.
 *
 * The reason is a hang when the server is killed. Removing a workspace sends FUSE_NOTIFY_INVAL_ENTRY for its name, and
 * the notifier thread waits for the lock of the directory that holds the name. A process that looks up a name holds
 * this lock until the request worker replies. If the server is killed at that moment, the notifier thread never wakes,
 * and the server process never ends. In the root, the lookup could be by the launch of any sandbox. In a directory of
 * its own it can only be by the removed workspace's sandbox, which has ended by then; the root is locked only by
 * lookups. The kernel does not cache the names of the root, neither positive nor negative, so those need no
 * invalidation.
 */
export class ParentDirectories {
  readonly #byName = new Map<ByteString, number>();
  readonly #names = new Map<number, ByteString>();
  #next = FIRST_NODEID;

  /** Whether `nodeid` is one of the parent directories. */
  has(nodeid: number): boolean {
    return this.#names.has(nodeid);
  }

  /**
   * Removes the directory of `name`. Returns its node id, which is invalid from now on, or undefined if the kernel
   * never looked the name up.
   */
  remove(name: ByteString): number | undefined {
    const nodeid = this.#byName.get(name);
    if (nodeid === undefined) return undefined;
    this.#byName.delete(name);
    this.#names.delete(nodeid);
    return nodeid;
  }

  /**
   * Serves a LOOKUP in the root. Returns the size of the reply's body in bytes. Throws ENOENT if the name does not
   * exist.
   */
  lookup(fileSystem: FileSystem, exchange: Exchange): number {
    const name = nameOf(exchange);
    const entry = fileSystem.lookup(exchange.caller, ROOT_NODEID, name);
    if (entry === undefined) throw ENOENT;
    fileSystem.forget(entry.nodeid, 1);
    const nodeid = this.#nodeidOf(name);
    return encodeEntry(exchange.reply, OUT_HEADER_SIZE, { nodeid, attr: attrOf(nodeid) }, 0);
  }

  /**
   * Serves a request for one of the directories. Returns the size of the reply's body in bytes or NO_REPLY. Throws
   * ESTALE for a removed directory, ENOENT for a name it does not have, EACCES for other operations.
   */
  run(opcode: number, fileSystem: FileSystem, exchange: Exchange): number {
    const { nodeid, caller, reply } = exchange;
    const name = this.#names.get(nodeid);
    if (name === undefined) throw ESTALE;
    switch (opcode) {
      case Opcode.LOOKUP: {
        const entry = nameOf(exchange) === WORKSPACE_NAME ? fileSystem.lookup(caller, ROOT_NODEID, name) : undefined;
        if (entry === undefined) throw ENOENT;
        return encodeEntry(reply, OUT_HEADER_SIZE, entry);
      }
      case Opcode.GETATTR:
        return encodeAttrOut(reply, OUT_HEADER_SIZE, attrOf(nodeid));
      case Opcode.FORGET:
        return NO_REPLY;
      default:
        throw EACCES;
    }
  }

  /** Returns the node id of a name's directory and allocates one at its first lookup. */
  #nodeidOf(name: ByteString): number {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const nodeid = this.#next++;
    this.#byName.set(name, nodeid);
    this.#names.set(nodeid, name);
    return nodeid;
  }
}

function nameOf({ request, length }: Exchange): ByteString {
  return readName(request, IN_HEADER_SIZE, findStringEnd(request, IN_HEADER_SIZE, length));
}

/** Attributes of a parent directory: every user may search it, nobody may change it. */
function attrOf(nodeid: number): Attr {
  const times = { atime: EPOCH, mtime: EPOCH, ctime: EPOCH };
  return {
    ino: nodeid,
    size: 4096,
    blocks: 8,
    ...times,
    mode: constants.S_IFDIR | 0o711,
    nlink: 3,
    uid: 0,
    gid: 0,
    rdev: 0,
  };
}
