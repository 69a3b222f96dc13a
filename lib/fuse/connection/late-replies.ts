import type { Errno } from '../../linux/errno.ts';
import { IN_HEADER_SIZE, OUT_HEADER_SIZE } from '../protocol/opcodes.ts';
import { encodeHeader } from '../protocol/replies.ts';
import type { PreparedReply } from './sync-thread.ts';
import { writeDevice } from './write-device.ts';

/** How long the write of a reply is retried, in ms; all sandboxes wait in the meantime. */
const RETRY_MS = 20;

/** A request without a reply yet, with the descriptor it was read from. */
interface LateReply {
  fd: number;
  header: Buffer;
}

/** The requests that are `AnsweredLater`, by their causes. Each has a process that waits for it. */
export class LateReplies {
  readonly #byCause = new Map<number, LateReply[]>();
  readonly #reply = Buffer.alloc(OUT_HEADER_SIZE);

  /** Records that the request, read from `fd`, is to be answered at `answer(cause)`. */
  add(cause: number, fd: number, request: Buffer): void {
    const header = Buffer.from(request.subarray(0, IN_HEADER_SIZE));
    const replies = this.#byCause.get(cause);
    if (replies === undefined) this.#byCause.set(cause, [{ fd, header }]);
    else replies.push({ fd, header });
  }

  /** Replies without an error to the requests that wait for `cause`, for another thread. */
  prepared(cause: number): PreparedReply[] {
    return (this.#byCause.get(cause) ?? []).map(({ fd, header }) => {
      // Not of the pool of buffers, which would cross to the thread as a whole.
      const message = Buffer.allocUnsafeSlow(OUT_HEADER_SIZE);
      encodeHeader(message, OUT_HEADER_SIZE, 0, header);
      return { fd, message };
    });
  }

  /** Another thread has sent the replies that wait for `cause`. */
  drop(cause: number): void {
    this.#byCause.delete(cause);
  }

  /** Sends replies that another thread may have sent. */
  sendAgain(replies: readonly PreparedReply[]): void {
    for (const { fd, message } of replies) send(fd, message);
  }

  /** Sends the replies that wait for `cause`: without an error, or with this one. */
  answer(cause: number, error: Errno | undefined): void {
    const replies = this.#byCause.get(cause) ?? [];
    this.#byCause.delete(cause);
    for (const { fd, header } of replies) {
      encodeHeader(this.#reply, OUT_HEADER_SIZE, error === undefined ? 0 : -error.errno, header);
      send(fd, this.#reply);
    }
  }
}

function send(fd: number, message: Uint8Array): void {
  try {
    writeDevice(fd, message, 0, message.length, RETRY_MS);
  } catch {
    // The request was answered or aborted, or the connection has ended, which the next read(2) reports.
  }
}
