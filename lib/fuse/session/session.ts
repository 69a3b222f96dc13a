import { EIO, EPROTO, Errno } from '../../linux/errno.ts';
import { AnsweredLater, type Caller, type FileSystem, Postponed } from '../filesystem.ts';
import { decodeInit, encodeInit, type InitIn, KERNEL_VERSION, MAX_WRITE, MINIMUM_MINOR } from '../protocol/init.ts';
import { readU64 } from '../protocol/integers.ts';
import { ENTRY_OUT_SIZE, IN_HEADER_SIZE, Opcode, OUT_HEADER_SIZE, ROOT_NODEID } from '../protocol/opcodes.ts';
import { direntSize, encodeHeader } from '../protocol/replies.ts';
import { readGid, readLength, readNodeid, readOpcode, readPid, readUid } from '../protocol/requests.ts';
import { CONTROL_NODEID, type ControlNode } from './control-node.ts';
import { expectsReply, operationOf } from './dispatch.ts';
import { type Exchange, NO_REPLY } from './exchange.ts';
import type { ParentDirectories } from './parent-directories.ts';

/**
 * Room for the largest WRITE with its header, or for names, in bytes. read(2) on /dev/fuse fails with EINVAL for a smaller
 * buffer.
 */
export const REQUEST_SIZE = MAX_WRITE + 8192;
const INIT_BODY_SIZE = 16;
const MAX_REPORTS = 100;

/** Callbacks of a session, called synchronously by `handle`. */
export interface SessionEvents {
  /** The kernel's INIT was accepted, and its reply is encoded. */
  onInit(offer: InitIn): void;
  /** A NOTIFY_REPLY was received; `unique` is that of `encodeRetrieveNothing`. */
  onWake(unique: number): void;
  /** An operation threw something other than an `Errno`. Called once for each pair of opcode and message. */
  onDefect(operation: number, thrown: unknown): void;
}

/** The protocol of one FUSE connection, without its device: bytes in, bytes out. */
export class Session {
  /** Buffer to read the next request into, of which `handle` takes requests unless it gets another one. */
  readonly request: Buffer;
  /** Buffer that `handle` encodes the reply into. */
  readonly reply = Buffer.allocUnsafeSlow(REQUEST_SIZE);

  readonly #fileSystem: FileSystem;
  readonly #control: ControlNode;
  readonly #events: SessionEvents;
  readonly #parents: ParentDirectories | undefined;
  readonly #caller: Caller = { uid: 0, gid: 0, pid: 0 };
  readonly #exchange: Exchange;
  readonly #reported = new Set<string>();
  #initialised = false;
  /**
   * The cause of the last request's `Postponed`: it has no reply and is to be handled again after the release of that
   * cause.
   */
  postponedBy: number | undefined;
  /** The cause of the last request's `AnsweredLater`: it has no reply yet. */
  answeredLaterBy: number | undefined;

  /** `parents`: present the names of the root in directories of their own. `request`: of REQUEST_SIZE bytes. */
  constructor(
    fileSystem: FileSystem,
    control: ControlNode,
    events: SessionEvents,
    parents?: ParentDirectories,
    request: Buffer = Buffer.allocUnsafeSlow(REQUEST_SIZE),
  ) {
    this.request = request;
    this.#parents = parents;
    this.#fileSystem = fileSystem;
    this.#control = control;
    this.#events = events;
    this.#exchange = { request: this.request, length: 0, nodeid: 0, caller: this.#caller, reply: this.reply };
  }

  /** Whether a request gets no reply and wakes nobody: it is handled at once. */
  isOneWay(length: number, request: Buffer): boolean {
    if (length < IN_HEADER_SIZE) return true;
    const opcode = readOpcode(request);
    return opcode !== Opcode.NOTIFY_REPLY && !expectsReply(opcode);
  }

  /**
   * The flow of a request: requests of one flow are handled in order, and flows in turn. Each workspace is
   * one, and each kind of wake-up.
   */
  flowOf(request: Buffer): unknown {
    if (readOpcode(request) === Opcode.NOTIFY_REPLY) return -1 - readU64(request, 8);
    const nodeid = readNodeid(request);
    return this.#fileSystem.flowOf?.(nodeid) ?? nodeid;
  }

  /**
   * Handles the request in the first `length` bytes of `request`. Returns the size of the reply in bytes, or 0 for no
   * reply. Never throws.
   */
  handle(length: number, request: Buffer = this.request): number {
    this.#exchange.request = request;
    this.postponedBy = this.answeredLaterBy = undefined;
    if (length < IN_HEADER_SIZE || length > request.length) return 0;
    const opcode = readOpcode(request);
    try {
      if (readLength(request) !== length) throw EIO;
      const size = this.#run(opcode, length);
      return size === NO_REPLY ? 0 : this.#answer(OUT_HEADER_SIZE + size, 0);
    } catch (thrown) {
      if (thrown instanceof Postponed) {
        this.postponedBy = thrown.cause;
        return 0;
      }
      if (thrown instanceof AnsweredLater) {
        this.answeredLaterBy = thrown.cause;
        return 0;
      }
      if (!(thrown instanceof Errno)) this.#report(opcode, thrown);
      if (!expectsReply(opcode)) return 0;
      return this.#answer(OUT_HEADER_SIZE, -(thrown instanceof Errno ? thrown : EIO).errno);
    }
  }

  /** Encodes EIO in place of a reply that the kernel rejected. Returns its size in bytes. */
  failReply(): number {
    return this.#answer(OUT_HEADER_SIZE, -EIO.errno);
  }

  /** Subtracts the lookups of the last reply, which the kernel did not accept because its request was aborted. */
  revertLookups(): void {
    const { reply } = this;
    if (reply.readInt32LE(4) !== 0) return;
    const end = reply.readUInt32LE(0);
    switch (readOpcode(this.#exchange.request)) {
      case Opcode.LOOKUP:
      case Opcode.CREATE:
      case Opcode.MKNOD:
      case Opcode.MKDIR:
      case Opcode.SYMLINK:
      case Opcode.LINK:
        this.#forget(readU64(reply, OUT_HEADER_SIZE));
        break;
      case Opcode.READDIRPLUS:
        for (let at = OUT_HEADER_SIZE; at < end; ) {
          this.#forget(readU64(reply, at));
          const nameLength = reply.readUInt32LE(at + ENTRY_OUT_SIZE + 16);
          at += direntSize(nameLength, true);
        }
        break;
    }
  }

  #forget(nodeid: number): void {
    if (nodeid === 0 || nodeid === CONTROL_NODEID) return;
    try {
      this.#fileSystem.forget(nodeid, 1);
    } catch (thrown) {
      this.#report(Opcode.FORGET, thrown);
    }
  }

  #run(opcode: number, length: number): number {
    if (!this.#initialised || opcode === Opcode.INIT) return this.#init(opcode, length);
    const exchange = this.#exchange;
    const { request } = exchange;
    const caller = this.#caller;
    exchange.length = length;
    exchange.nodeid = readNodeid(request);
    caller.uid = readUid(request);
    caller.gid = readGid(request);
    caller.pid = readPid(request);

    const operation = operationOf(opcode);
    if (length < IN_HEADER_SIZE + operation.body) throw EIO;
    if (opcode === Opcode.NOTIFY_REPLY) this.#events.onWake(readU64(request, 8));
    else if (exchange.nodeid === CONTROL_NODEID) return this.#control.run(opcode, exchange);
    else if (opcode === Opcode.LOOKUP && exchange.nodeid === ROOT_NODEID) {
      if (this.#control.isLookup(exchange)) return this.#control.lookup(exchange);
      if (this.#parents !== undefined) return this.#parents.lookup(this.#fileSystem, exchange);
    } else if (this.#parents?.has(exchange.nodeid)) return this.#parents.run(opcode, this.#fileSystem, exchange);
    return operation.run(this.#fileSystem.serving?.(caller) ?? this.#fileSystem, exchange);
  }

  #init(opcode: number, length: number): number {
    if (opcode !== Opcode.INIT || this.#initialised || length < IN_HEADER_SIZE + INIT_BODY_SIZE) throw EIO;
    const offer = decodeInit(this.#exchange.request);
    // A kernel of a newer major version sends INIT again with the version of this reply.
    if (offer.major > KERNEL_VERSION) return encodeInit(this.reply, OUT_HEADER_SIZE, offer);
    if (offer.major < KERNEL_VERSION || offer.minor < MINIMUM_MINOR) throw EPROTO;
    const size = encodeInit(this.reply, OUT_HEADER_SIZE, offer);
    this.#initialised = true;
    this.#events.onInit(offer);
    return size;
  }

  #answer(length: number, error: number): number {
    encodeHeader(this.reply, length, error, this.#exchange.request);
    return length;
  }

  #report(opcode: number, thrown: unknown): void {
    const key = `${opcode} ${String(thrown)}`;
    if (this.#reported.has(key) || this.#reported.size >= MAX_REPORTS) return;
    this.#reported.add(key);
    this.#events.onDefect(opcode, thrown);
  }
}
