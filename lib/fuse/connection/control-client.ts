import { writeSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import { ServiceError } from '../../errors.ts';
import { encodeRetrieveNothing } from '../protocol/notifications.ts';
import { CONTROL_NODEID } from '../session/control-node.ts';
import { type ControlRequest, decodeError, type WorkerMessage } from './control.ts';
import { isTransient } from './write-device.ts';

/** Time between attempts to wake the request worker while the host is short of memory. */
const WAKE_AGAIN_MS = 20;

type Answer = Extract<WorkerMessage, { kind: 'answer' }>;

interface Call {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * The main thread's end of the control channel. Requests are answered in order; a successful answer is held back until
 * all notifications that it caused were written, so that the caller finds the kernel's caches in agreement with it.
 */
export class ControlClient {
  readonly #fd: number;
  readonly #port: MessagePort;
  readonly #wakeUp = encodeRetrieveNothing(CONTROL_NODEID);
  readonly #calls = new Map<number, Call>();
  /** Answers that wait for their batch, oldest first. */
  readonly #held: Answer[] = [];
  /** Of answers that are still to come. */
  readonly #parts = new Map<number, unknown[]>();
  #nextId = 1;
  #writtenBatch = 0;
  #closed: string | undefined;
  #wakeAgain: NodeJS.Timeout | undefined;

  constructor(fd: number, port: MessagePort) {
    this.#fd = fd;
    this.#port = port;
  }

  call(operation: string, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(unavailable(this.#closed));
    return new Promise((resolve, reject) => {
      const request: ControlRequest = { id: this.#nextId++, operation, args };
      // First: what cannot be cloned throws here.
      this.#port.postMessage(request);
      this.#calls.set(request.id, { resolve, reject });
      this.#wake();
    });
  }

  /** Lets the request worker end after what it is doing; also after `close`. */
  stop(): void {
    const request: ControlRequest = { id: 0, operation: 'stop', args: [] };
    this.#port.postMessage(request);
    this.#wake();
  }

  /**
   * Brings the request worker out of read(2). Does not block: the kernel queues its message.
   */
  #wake(): void {
    try {
      writeSync(this.#fd, this.#wakeUp, 0, this.#wakeUp.length, null);
    } catch (thrown) {
      // Otherwise the connection has ended: the worker comes out of read(2) by itself, and its end rejects all calls.
      if (isTransient(thrown)) this.#wakeLater();
    }
  }

  #wakeLater(): void {
    this.#wakeAgain ??= setTimeout(() => {
      this.#wakeAgain = undefined;
      this.#wake();
    }, WAKE_AGAIN_MS);
  }

  /** Call before the descriptor is closed: nothing is written to it any more. */
  release(): void {
    clearTimeout(this.#wakeAgain);
  }

  /** A call with parts resolves with an array of them and its answer. */
  part(id: number, value: unknown): void {
    const parts = this.#parts.get(id);
    if (parts === undefined) this.#parts.set(id, [value]);
    else parts.push(value);
  }

  answered(answer: Answer): void {
    if (answer.error) {
      this.#parts.delete(answer.id);
      this.#take(answer.id)?.reject(decodeError(answer.error));
      return;
    }
    this.#held.push(answer);
    this.#release();
  }

  batchWritten(batch: number): void {
    this.#writtenBatch = batch;
    this.#release();
  }

  /** Every call, also those under way, rejects with UNAVAILABLE from now on. */
  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = reason;
    for (const call of this.#calls.values()) call.reject(unavailable(reason));
    this.#calls.clear();
    this.#held.length = 0;
    this.#parts.clear();
  }

  #release(): void {
    while (this.#held[0] && this.#held[0].batch <= this.#writtenBatch) {
      const answer = this.#held.shift() as Answer;
      const parts = this.#parts.get(answer.id);
      this.#parts.delete(answer.id);
      this.#take(answer.id)?.resolve(parts === undefined ? answer.value : [...parts, answer.value]);
    }
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }
}

function unavailable(reason: string): ServiceError {
  return new ServiceError('UNAVAILABLE', `the workspace file system is not available: ${reason}`);
}
