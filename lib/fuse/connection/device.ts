import { readSync } from 'node:fs';
import type { Session } from '../session/session.ts';
import type { Descriptor, RequestReader } from './request-reader.ts';
import type { Waiting } from './waiting.ts';
import { isTransient, writeDevice } from './write-device.ts';

/** How long an answer is retried; all sandboxes wait meanwhile. */
const PATIENCE_MS = 20;

/** What ended a connection from the kernel's side. */
export type EndReason = 'stopped' | 'unmounted' | 'aborted';

/** A request that is to be run again, and the descriptor it came by. */
export interface PostponedRequest {
  fd: number;
  request: Buffer;
}

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code;

/**
 * Answers requests until the connection ends or `served` returns false, which is asked after each one. Blocks its
 * thread: nothing but a request (or the wake-up of control-node.ts) brings it out of read(2).
 */
export function serve(
  reader: RequestReader,
  session: Session,
  postponed: Waiting<PostponedRequest>,
  served: () => boolean,
): EndReason {
  for (;;) {
    let received: number;
    try {
      received = reader.next(session.request);
    } catch (thrown) {
      switch (codeOf(thrown)) {
        case 'ENODEV':
          return 'unmounted';
        case 'ECONNABORTED':
          return 'aborted';
      }
      throw thrown;
    }
    run(reader.fd, received, session, postponed);
    for (let again = postponed.next(); again !== undefined; again = postponed.next()) {
      again.request.copy(session.request);
      run(again.fd, again.request.length, session, postponed);
    }
    if (!served()) return 'stopped';
  }
}

function run(fd: number, length: number, session: Session, postponed: Waiting<PostponedRequest>): void {
  const size = session.handle(length);
  const { postponedBy } = session;
  if (postponedBy !== undefined) {
    postponed.add(postponedBy, { fd, request: Buffer.from(session.request.subarray(0, length)) });
  } else if (size > 0) answer(fd, session, size);
}

export function descriptor(fd: number): Descriptor {
  return {
    fd,
    read(into) {
      // Most of what is thrown is EAGAIN, which needs no stack.
      const { stackTraceLimit } = Error;
      Error.stackTraceLimit = 0;
      try {
        return readSync(fd, into, 0, into.length, null);
      } catch (thrown) {
        // Nothing there, a signal, a request that the kernel could not copy and has failed, or (ENOENT) one that was
        // interrupted before it was read.
        if (isTransient(thrown) || codeOf(thrown) === 'ENOENT') return undefined;
        throw thrown;
      } finally {
        Error.stackTraceLimit = stackTraceLimit;
      }
    },
  };
}

function answer(fd: number, session: Session, size: number): void {
  try {
    writeDevice(fd, session.reply, 0, size, PATIENCE_MS);
  } catch (thrown) {
    session.undeliver();
    switch (codeOf(thrown)) {
      // The request was aborted, or the connection is gone: the next read tells.
      case 'ENOENT':
      case 'ENODEV':
      case 'ECONNABORTED':
      case 'EPERM':
        return;
    }
    // The kernel finds no sense in the reply. Whoever asked must not wait for ever.
    try {
      writeDevice(fd, session.reply, 0, session.failReply(), PATIENCE_MS);
    } catch {
      // It took the first reply for an answer after all.
    }
  }
}
