import { readSync, writeSync } from 'node:fs';
import type { Session } from './session.ts';

/** What ended a connection from the kernel's side. */
export type EndReason = 'stopped' | 'unmounted' | 'aborted';

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code;

/**
 * Answers requests until the connection ends or `served` returns false, which is asked after each one. Blocks its thread:
 * nothing but a request (or the wake-up of control-node.ts) brings it out of read(2).
 */
export function serve(fd: number, session: Session, served: () => boolean): EndReason {
  for (;;) {
    let received: number;
    try {
      received = readSync(fd, session.request, 0, session.request.length, null);
    } catch (thrown) {
      switch (codeOf(thrown)) {
        // A signal, or a request that was interrupted before it was read.
        case 'EINTR':
        case 'EAGAIN':
        case 'ENOENT':
          continue;
        case 'ENODEV':
          return 'unmounted';
        case 'ECONNABORTED':
          return 'aborted';
      }
      throw thrown;
    }
    const size = session.handle(received);
    if (size > 0) answer(fd, session, size);
    if (!served()) return 'stopped';
  }
}

function answer(fd: number, session: Session, size: number): void {
  try {
    writeSync(fd, session.reply, 0, size, null);
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
      writeSync(fd, session.reply, 0, session.failReply(), null);
    } catch {
      // It took the first reply for an answer after all.
    }
  }
}
