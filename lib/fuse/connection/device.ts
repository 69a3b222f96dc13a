import { readSync } from 'node:fs';
import { errorCode } from '../../linux/errno.ts';
import type { Session } from '../session/session.ts';
import type { LateReplies } from './late-replies.ts';
import type { Descriptor, RequestReader } from './request-reader.ts';
import type { WaitQueue } from './wait-queue.ts';
import { isTransient, writeDevice } from './write-device.ts';

/** How long the write of a reply is retried, in ms; all sandboxes wait in the meantime. */
const RETRY_MS = 20;

/** Why `serve` returned: `stopped` by the server, or ended by the kernel. */
export type EndReason = 'stopped' | 'unmounted' | 'aborted';

/** A postponed request with the descriptor it was read from. */
export interface PostponedRequest {
  fd: number;
  request: Buffer;
}

/**
 * Serves requests until the connection ends or `served`, which is called after each request, returns false. Postponed
 * requests are run again once released; late replies are sent by their owner. Blocks its thread: only a request wakes it
 * from read(2) (see `ControlNode`). Throws unexpected errors of read(2).
 */
export function serve(
  reader: RequestReader,
  session: Session,
  postponed: WaitQueue<PostponedRequest>,
  late: LateReplies,
  served: () => boolean,
): EndReason {
  for (;;) {
    let received: number;
    try {
      received = reader.next(session.request);
    } catch (thrown) {
      switch (errorCode(thrown)) {
        case 'ENODEV':
          return 'unmounted';
        case 'ECONNABORTED':
          return 'aborted';
      }
      throw thrown;
    }
    run(reader.fd, received, session, postponed, late);
    for (let again = postponed.next(); again !== undefined; again = postponed.next()) {
      again.request.copy(session.request);
      run(again.fd, again.request.length, session, postponed, late);
    }
    if (!served()) return 'stopped';
  }
}

function run(
  fd: number,
  length: number,
  session: Session,
  postponed: WaitQueue<PostponedRequest>,
  late: LateReplies,
): void {
  const size = session.handle(length);
  const { postponedBy, answeredLaterBy } = session;
  if (postponedBy !== undefined) {
    postponed.add(postponedBy, { fd, request: Buffer.from(session.request.subarray(0, length)) });
  } else if (answeredLaterBy !== undefined) late.add(answeredLaterBy, fd, session.request);
  else if (size > 0) sendReply(fd, session, size);
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
