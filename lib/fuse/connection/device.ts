import { readSync } from 'node:fs';
import { EINTR, errorCode } from '../../linux/errno.ts';
import { OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import { encodeHeader } from '../protocol/replies.ts';
import type { Session } from '../session/session.ts';
import type { HeldRequests } from './held-requests.ts';
import type { LateReplies } from './late-replies.ts';
import type { Descriptor } from './request-reader.ts';
import type { ReadRequest } from './request-records.ts';
import type { WaitQueue } from './wait-queue.ts';
import { isTransient, writeDevice } from './write-device.ts';

/** How long the write of a reply is retried, in ms; all sandboxes wait in the meantime. */
const RETRY_MS = 20;

/** Why `serve` returned: `stopped` by the server, or ended by the kernel. */
export type EndReason = 'stopped' | 'unmounted' | 'aborted';

/**
 * Serves requests until the connection ends or `served`, which is called after each request, returns false. Postponed
 * requests are run again once released; late replies are sent by their owner. Blocks its thread: only a request wakes it
 * from read(2) (see `ControlNode`). Throws unexpected errors of read(2).
 */
export function serve(
  held: HeldRequests,
  session: Session,
  postponed: WaitQueue<ReadRequest>,
  late: LateReplies,
  served: () => boolean,
): EndReason {
  const run = (request: ReadRequest) => runRequest(request, session, postponed, late);
  for (;;) {
    let next: ReadRequest | undefined;
    try {
      next = held.receive();
    } catch (thrown) {
      switch (errorCode(thrown)) {
        case 'ENODEV':
          return 'unmounted';
        case 'ECONNABORTED':
          return 'aborted';
      }
      throw thrown;
    }
    if (next !== undefined) run(next);
    for (let again = postponed.next(); again !== undefined; again = postponed.next()) {
      held.ran();
      run(again);
    }
    const goesOn = served();
    held.done();
    if (!goesOn) return 'stopped';
  }
}

function runRequest(
  { fd, request, length }: ReadRequest,
  session: Session,
  postponed: WaitQueue<ReadRequest>,
  late: LateReplies,
): void {
  const size = session.handle(length, request);
  const { postponedBy, answeredLaterBy } = session;
  if (postponedBy !== undefined) {
    postponed.add(postponedBy, { fd, request: Buffer.from(request.subarray(0, length)), length });
  } else if (answeredLaterBy !== undefined) late.add(answeredLaterBy, fd, request);
  else if (size > 0) sendReply(fd, session, size);
}

/** Replies to a request that is not run, because its process was killed. */
export function refuseInterrupted({ fd, request }: ReadRequest): void {
  const message = Buffer.allocUnsafe(OUT_HEADER_SIZE);
  encodeHeader(message, OUT_HEADER_SIZE, -EINTR.errno, request);
  try {
    writeDevice(fd, message, 0, OUT_HEADER_SIZE, RETRY_MS);
  } catch {
    // The request was aborted, or the connection has ended, which the next read(2) reports.
  }
}

/** A descriptor of the device as a `Descriptor`. The caller owns `fd`. */
export function descriptor(fd: number): Descriptor {
  return {
    fd,
    read(into) {
      // Most exceptions here are EAGAIN, and nobody reads their stacks.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      try {
        return readSync(fd, into, 0, into.length, null);
      } catch (thrown) {
        // Transient: no request, a signal, or a request that the kernel failed because it could not copy it. ENOENT:
        // the request was interrupted before it was read.
        if (isTransient(thrown) || errorCode(thrown) === 'ENOENT') return undefined;
        throw thrown;
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    },
  };
}

function sendReply(fd: number, session: Session, size: number): void {
  try {
    writeDevice(fd, session.reply, 0, size, RETRY_MS);
  } catch (thrown) {
    session.revertLookups();
    switch (errorCode(thrown)) {
      // The request was aborted, or the connection has ended, which the next read(2) reports.
      case 'ENOENT':
      case 'ENODEV':
      case 'ECONNABORTED':
      case 'EPERM':
        return;
    }
    // The kernel rejected the reply as malformed. The requesting program must not wait forever.
    try {
      writeDevice(fd, session.reply, 0, session.failReply(), RETRY_MS);
    } catch {
      // The kernel had accepted the first reply.
    }
  }
}
