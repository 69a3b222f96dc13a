import { constants } from 'node:fs';
import type { ByteString } from '../../byte-string.ts';
import { EACCES, ENOENT, ESTALE } from '../../linux/errno.ts';
import type { Attr, FileSystem } from '../filesystem.ts';
import { IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE, ROOT_NODEID } from '../protocol/opcodes.ts';
import { encodeAttrOut, encodeEntry } from '../protocol/replies.ts';
import { findStringEnd, readName } from '../protocol/requests.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';

/** What a workspace is called in its parent directory. */
export const WORKSPACE_NAME = 'workspace';

/** Below the control node, and above what any file system counts up to. */
const FIRST_NODEID = 2 ** 52;
const LONG_AGO = { sec: 0, nsec: 0 };

/**
 * Shows each name of the file system's root in a directory of its own, as `NAME/workspace`.
 *
 * When a workspace goes, the kernel is told to let go of its name, and the notifier thread waits for the lock of the
 * directory that the name is in. Whoever looks up a name holds that lock until the request worker has answered, and when
 * the server is killed then, the notifier, and with it the process, waits for ever. In the root that would be any launch
 * of any sandbox. In a directory of its own it is only this workspace's, which has ended by then; the root itself is
 * locked by look-ups only. The kernel is told not to keep the names of the root, neither those that are there nor those
 * that are not, so that it need not be told of them later.
 */
export class ParentDirectories {
  readonly #byName = new Map<ByteString, number>();
  readonly #names = new Map<number, ByteString>();
  #next = FIRST_NODEID;

  has(nodeid: number): boolean {
    return this.#names.has(nodeid);
  }

  /** The number of the directory in which the kernel knows the name; undefined: it does not. It is void from now on. */
  leave(name: ByteString): number | undefined {
    const nodeid = this.#byName.get(name);
    if (nodeid === undefined) return undefined;
    this.#byName.delete(name);
    this.#names.delete(nodeid);
    return nodeid;
  }

  /** A LOOKUP in the root. */
  lookup(fileSystem: FileSystem, exchange: Exchange): number {
    const name = nameOf(exchange);
    const entry = fileSystem.lookup(exchange.caller, ROOT_NODEID, name);
    if (entry === undefined) throw ENOENT;
    fileSystem.forget(entry.nodeid, 1);
    const nodeid = this.#enter(name);
    return encodeEntry(exchange.reply, OUT_HEADER_SIZE, { nodeid, attr: attrOf(nodeid) }, 0);
  }

  /** A request about one of the directories. */
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

  #enter(name: ByteString): number {
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

/** Everyone may pass through it, nothing of it changes. */
function attrOf(nodeid: number): Attr {
  const times = { atime: LONG_AGO, mtime: LONG_AGO, ctime: LONG_AGO };
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
