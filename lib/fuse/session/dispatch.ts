import type { ByteString } from '../../byte-string.ts';
import type { Errno } from '../../linux/errno.ts';
import { ENOSYS, ENOTTY } from '../../linux/errno.ts';
import { MAX_NAME_BYTES } from '../../path-limits.ts';
import type { FileSystem } from '../filesystem.ts';
import { IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import {
  encodeAttrOut,
  encodeEntry,
  encodeNegativeEntry,
  encodeOpen,
  encodeStatfs,
  encodeWrite,
} from '../protocol/replies.ts';
import { decodeSetattr, findStringEnd, readArgOffset, readArgU32, readArgU64, readName } from '../protocol/requests.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';
import { readdir } from './readdir.ts';

/**
 * Runs an operation and encodes the body of its reply after the header. Returns the body's size in bytes, or NO_REPLY.
 * Throws an `Errno` to refuse the request.
 */
type Run = (fileSystem: FileSystem, exchange: Exchange) => number;

/** How one opcode is served. */
export interface Operation {
  /** Size in bytes of the fixed struct after the header; a shorter request is malformed. */
  readonly body: number;
  readonly run: Run;
}

const EMPTY = 0;
const BODY = OUT_HEADER_SIZE;

const WRITE_KILL_SUIDGID = 1 << 2;
const FSYNC_FDATASYNC = 1 << 0;

/** Decodes the name that follows a fixed struct of `body` bytes. */
function nameAt(exchange: Exchange, body: number): ByteString {
  const start = IN_HEADER_SIZE + body;
  return readName(exchange.request, start, findStringEnd(exchange.request, start, exchange.length));
}

function rename(fileSystem: FileSystem, exchange: Exchange, body: number, flags: number): number {
  const { request, length, caller, nodeid } = exchange;
  const start = IN_HEADER_SIZE + body;
  const end = findStringEnd(request, start, length);
  const newEnd = findStringEnd(request, end + 1, length);
  const newparent = readArgU64(request, 0);
  fileSystem.rename(
    caller,
    nodeid,
    readName(request, start, end),
    newparent,
    readName(request, end + 1, newEnd),
    flags,
  );
  return EMPTY;
}

function refuseWith(errno: Errno): Operation {
  return {
    body: 0,
    run: () => {
      throw errno;
    },
  };
}

/**
 * For every opcode without an entry below. After one ENOSYS the kernel does not send that opcode again on the
 * connection.
 */
const UNSUPPORTED = refuseWith(ENOSYS);

const table: Record<number, Operation> = {
  [Opcode.LOOKUP]: {
    body: 0,
    run: (fs, { request, length, caller, nodeid, reply }) => {
      const end = findStringEnd(request, IN_HEADER_SIZE, length);
      const entry = fs.lookup(caller, nodeid, readName(request, IN_HEADER_SIZE, end));
      return entry ? encodeEntry(reply, BODY, entry, entry.seconds) : encodeNegativeEntry(reply, BODY);
    },
  },
  [Opcode.FORGET]: {
    body: 8,
    run: (fs, { request, nodeid }) => {
      fs.forget(nodeid, readArgU64(request, 0));
      return NO_REPLY;
    },
  },
  [Opcode.BATCH_FORGET]: {
    body: 8,
    run: (fs, { request, length }) => {
      const count = Math.min(readArgU32(request, 0), Math.floor((length - IN_HEADER_SIZE - 8) / 16));
      for (let i = 0; i < count; i++) fs.forget(readArgU64(request, 8 + i * 16), readArgU64(request, 16 + i * 16));
      return NO_REPLY;
    },
  },
  [Opcode.GETATTR]: {
    body: 16,
    run: (fs, { caller, nodeid, reply }) => encodeAttrOut(reply, BODY, fs.getattr(caller, nodeid)),
  },
  [Opcode.SETATTR]: {
    body: 88,
    run: (fs, { request, caller, nodeid, reply }) =>
      encodeAttrOut(reply, BODY, fs.setattr(caller, nodeid, decodeSetattr(request))),
  },
  [Opcode.READLINK]: {
    body: 0,
    run: (fs, { caller, nodeid, reply }) => fs.readlink(caller, nodeid).copy(reply, BODY),
  },
  [Opcode.SYMLINK]: {
    body: 0,
    run: (fs, { request, length, caller, nodeid, reply }) => {
      const end = findStringEnd(request, IN_HEADER_SIZE, length);
      const targetEnd = findStringEnd(request, end + 1, length);
      const target = Buffer.from(request.subarray(end + 1, targetEnd));
      return encodeEntry(reply, BODY, fs.symlink(caller, nodeid, readName(request, IN_HEADER_SIZE, end), target));
    },
  },
  [Opcode.MKNOD]: {
    body: 16,
    run: (fs, exchange) => {
      const { request, caller, nodeid, reply } = exchange;
      const mode = readArgU32(request, 0);
      return encodeEntry(reply, BODY, fs.mknod(caller, nodeid, nameAt(exchange, 16), mode, readArgU32(request, 4)));
    },
  },
  [Opcode.MKDIR]: {
    body: 8,
    run: (fs, exchange) => {
      const { request, caller, nodeid, reply } = exchange;
      return encodeEntry(reply, BODY, fs.mkdir(caller, nodeid, nameAt(exchange, 8), readArgU32(request, 0)));
    },
  },
  [Opcode.UNLINK]: {
    body: 0,
    run: (fs, exchange) => {
      fs.unlink(exchange.caller, exchange.nodeid, nameAt(exchange, 0));
      return EMPTY;
    },
  },
  [Opcode.RMDIR]: {
    body: 0,
    run: (fs, exchange) => {
      fs.rmdir(exchange.caller, exchange.nodeid, nameAt(exchange, 0));
      return EMPTY;
    },
  },
  [Opcode.RENAME]: { body: 8, run: (fs, exchange) => rename(fs, exchange, 8, 0) },
  [Opcode.RENAME2]: {
    body: 16,
    run: (fs, exchange) => rename(fs, exchange, 16, readArgU32(exchange.request, 8)),
  },
  [Opcode.LINK]: {
    body: 8,
    run: (fs, exchange) => {
      const { request, caller, nodeid: newparent, reply } = exchange;
      return encodeEntry(reply, BODY, fs.link(caller, readArgU64(request, 0), newparent, nameAt(exchange, 8)));
    },
  },
  [Opcode.CREATE]: {
    body: 16,
    run: (fs, exchange) => {
      const { request, caller, nodeid, reply } = exchange;
      const flags = readArgU32(request, 0);
      const entry = fs.create(caller, nodeid, nameAt(exchange, 16), readArgU32(request, 4), flags);
      const size = encodeEntry(reply, BODY, entry);
      return size + encodeOpen(reply, BODY + size);
    },
  },
  [Opcode.READ]: {
    body: 40,
    run: (fs, { request, caller, nodeid, reply }) => {
      const size = Math.min(readArgU32(request, 16), reply.length - BODY);
      return fs.read(caller, nodeid, readArgOffset(request, 8), reply.subarray(BODY, BODY + size));
    },
  },
  [Opcode.WRITE]: {
    body: 40,
    run: (fs, { request, length, caller, nodeid, reply }) => {
      const start = IN_HEADER_SIZE + 40;
      const data = request.subarray(start, Math.min(start + readArgU32(request, 16), length));
      const killSuidgid = (readArgU32(request, 20) & WRITE_KILL_SUIDGID) !== 0;
      return encodeWrite(reply, BODY, fs.write(caller, nodeid, readArgOffset(request, 8), data, killSuidgid));
    },
  },
  [Opcode.FSYNC]: { body: 16, run: fsync },
  [Opcode.FSYNCDIR]: { body: 16, run: fsync },
  [Opcode.STATFS]: {
    body: 0,
    run: (fs, { caller, nodeid, reply }) =>
      encodeStatfs(reply, BODY, { ...fs.statfs(caller, nodeid), namelen: MAX_NAME_BYTES }),
  },
  [Opcode.READDIR]: { body: 40, run: (fs, exchange) => readdir(fs, exchange, false) },
  [Opcode.READDIRPLUS]: { body: 40, run: (fs, exchange) => readdir(fs, exchange, true) },
  /** Only for files that were opened before the first OPEN was answered with ENOSYS. */
  [Opcode.RELEASE]: { body: 0, run: () => EMPTY },
  [Opcode.RELEASEDIR]: { body: 0, run: () => EMPTY },
  [Opcode.DESTROY]: { body: 0, run: () => EMPTY },
  /** Ignored, which the protocol allows: requests are short. */
  [Opcode.INTERRUPT]: { body: 0, run: () => NO_REPLY },
  [Opcode.NOTIFY_REPLY]: { body: 0, run: () => NO_REPLY },
  [Opcode.IOCTL]: refuseWith(ENOTTY),
};

function fsync(fs: FileSystem, { request, caller, nodeid }: Exchange): number {
  fs.fsync(caller, nodeid, (readArgU32(request, 8) & FSYNC_FDATASYNC) !== 0);
  return EMPTY;
}

const operations: Operation[] = Array.from({ length: 64 }, (_, opcode) => table[opcode] ?? UNSUPPORTED);

/** Returns how an opcode is served; ENOSYS for unknown ones. */
export function operationOf(opcode: number): Operation {
  return operations[opcode] ?? UNSUPPORTED;
}

/** Whether the kernel waits for a reply. A reply to any other request, even an error, violates the protocol. */
export function expectsReply(opcode: number): boolean {
  return (
    opcode !== Opcode.FORGET &&
    opcode !== Opcode.BATCH_FORGET &&
    opcode !== Opcode.INTERRUPT &&
    opcode !== Opcode.NOTIFY_REPLY
  );
}
