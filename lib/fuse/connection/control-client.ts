import { writeSync } from 'node:fs';
import { deserialize } from 'node:v8';
import type { MessagePort } from 'node:worker_threads';
import { breaks } from '../../breaks.ts';
import { ServiceError } from '../../errors.ts';
import { encodeRetrieveNothing } from '../protocol/notifications.ts';
import { CONTROL_NODEID } from '../session/control-node.ts';
import { type ControlRequest, decodeError, type WorkerMessage } from './control.ts';
import { hasLongList, LongArguments } from './long-arguments.ts';
import type { WrittenBatch } from './notifier.ts';
import { isTransient } from './write-device.ts';

/** Time between attempts to wake the request worker while the host is short of memory. */
const WAKE_AGAIN_MS = 20;

type Answer = Extract<WorkerMessage, { kind: 'answer' }>;

interface Call {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * The main thread's end of the control channel. A successful answer is delivered only after all invalidations that its
 * operation caused, and earlier ones of the same workspace, are written, so that its caller finds the kernel's caches up to
 * date.
 */
export class ControlClient {
  readonly #fd: number;
  readonly #port: MessagePort;
  readonly #wakeUp = encodeRetrieveNothing(CONTROL_NODEID);
  readonly #calls = new Map<number, Call>();
  /** Successful answers whose notification batches are not written yet, oldest first. */
  #held: Answer[] = [];
  /** Encoded partial results of calls without an answer yet, by call id. */
  readonly #parts = new Map<number, Uint8Array[]>();
  readonly #longArguments: LongArguments;
  #nextId = 1;
  readonly #written = { batch: 0, late: 0 };
  #closed: string | undefined;
  #wakeAgain: NodeJS.Timeout | undefined;

  /** `fd`: the device; `port`: the control channel to the request worker. The caller owns and closes both. */
  constructor(fd: number, port: MessagePort) {
    this.#fd = fd;
    this.#port = port;
    this.#longArguments = new LongArguments((piece) => {
      if (this.#closed) throw unavailable(this.#closed);
      this.#port.postMessage(piece);
      this.#wake();
    });
  }

  /**
   * Runs an operation of the file system in the request worker. Arguments and result cross by structured clone. Rejects
   * with the error that the operation threw (`ControlledFileSystem.toError`), or with UNAVAILABLE after `close`. A call
   * with partial results resolves with an array, the partial results in order, then the answer, possibly after calls that were
   * answered later. A call with a list of more
   * than some hundred items begins after its lists were sent; calls made meanwhile begin before it.
   */
  call(operation: string, ...args: readonly unknown[]): Promise<unknown> {
    return hasLongList(args) ? this.#callWithLists(operation, args) : this.#call(operation, args);
  }

  async #callWithLists(operation: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) throw unavailable(this.#closed);
    return this.#call(operation, await this.#longArguments.send(args));
  }

  #call(operation: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(unavailable(this.#closed));
    return new Promise((resolve, reject) => {
      const request: ControlRequest = { id: this.#nextId++, operation, args };
      // Before the call is registered: this throws for an argument that cannot be cloned.
      this.#port.postMessage(request);
      this.#calls.set(request.id, { resolve, reject });
      this.#wake();
    });
  }

  /** Asks the request worker to exit after the request in progress. Also allowed after `close`. */
  stop(): void {
    const request: ControlRequest = { id: 0, operation: 'stop', args: [] };
    this.#port.postMessage(request);
    this.#wake();
  }

  /** Wakes the request worker from read(2). Does not block: the kernel queues the message. */
  #wake(): void {
    try {
      writeSync(this.#fd, this.#wakeUp, 0, this.#wakeUp.length, null);
    } catch (thrown) {
      // For other errors the connection has ended: read(2) of the worker fails, and its exit rejects all calls.
      if (isTransient(thrown)) this.#wakeLater();
    }
  }

  #wakeLater(): void {
    this.#wakeAgain ??= setTimeout(() => {
      this.#wakeAgain = undefined;
      this.#wake();
    }, WAKE_AGAIN_MS);
  }

  /** Cancels pending wake-ups. Call it before the descriptor is closed. */
  release(): void {
    clearTimeout(this.#wakeAgain);
  }

  /** Receives a partial result of a call. */
  onPart(id: number, encoded: Uint8Array): void {
    const parts = this.#parts.get(id);
    if (parts === undefined) this.#parts.set(id, [encoded]);
    else parts.push(encoded);
  }

  /** Receives the answer to a call. */
  onAnswer(answer: Answer): void {
    if (answer.error) {
      this.#parts.delete(answer.id);
      this.#remove(answer.id)?.reject(decodeError(answer.error));
      return;
    }
    this.#held.push(answer);
    this.#release();
  }

  /** Receives the number of the last notification batch, or late one, that is written to the device. */
  onBatchWritten({ batch, late }: WrittenBatch): void {
    this.#written[late ? 'late' : 'batch'] = batch;
    this.#release();
  }

  /** Rejects all pending and later calls with UNAVAILABLE and `reason`. Idempotent. */
  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const call of this.#calls.values()) call.reject(unavailable(reason));
    this.#calls.clear();
    this.#held.length = 0;
    this.#parts.clear();
  }

  #release(): void {
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    for (const answer of held) {
      if (answer.batch > this.#written.batch || answer.late > this.#written.late) {
        this.#held.push(answer);
        continue;
      }
      const parts = this.#parts.get(answer.id);
      this.#parts.delete(answer.id);
      this.#remove(answer.id)?.resolve(parts === undefined ? answer.value : withParts(parts, answer.value));
    }
  }

  #remove(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }
}

function unavailable(reason: string): ServiceError {
  return new ServiceError('UNAVAILABLE', `the workspace file system is not available: ${reason}`);
}

/**
 * Decodes partial results, and lets other events be handled in between: a port delivers all messages that it has in one
 * step, and as values those of 100,000 items would be decoded in it.
 */
async function withParts(parts: readonly Uint8Array[], last: unknown): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const encoded of parts) {
    values.push(deserialize(encoded));
    const due = breaks.due();
    if (due !== undefined) await due;
  }
  values.push(last);
  return values;
}
