import { ServiceError } from '../errors.ts';
import { Shares } from '../shares.ts';
import { CollectLater } from './collect-later.ts';
import { FairMemory, type Sender } from './fair-memory.ts';

/** Bytes of all requests that have not arrived completely: room for one of the largest requests, and for many others. */
const MAX_UNFINISHED = 96 * 1024 * 1024;
/** Bytes of all requests that are being carried out; one owner gets half of it. */
const MAX_IN_EXECUTION = 128 * 1024 * 1024;
/** Bytes of all answers that their clients have not read. */
const MAX_UNSENT = 128 * 1024 * 1024;
/** Bytes up to which a request that is carried out costs no more than its call. */
const SMALL = 65_536;
/** What an unfinished request costs beyond its bytes: its call, its stream or its connection. */
const REQUEST_COST = 16_384;

/** The memory of one request, from its first byte until its call has ended. */
export interface Received {
  /** So many bytes of the request are held now, before it is complete. May cut this request or another one. */
  hold(bytes: number): void;
  /**
   * The request is complete, and is carried out: it is not cut any more. Throws RESOURCE_EXHAUSTED if the owner's requests
   * in execution have their share. `elsewhere`: its bytes are limited elsewhere from now on.
   */
  complete(elsewhere?: boolean): void;
  /** Must be called once, at the end of the call; further calls do nothing. */
  end(): void;
}

/** Memory for requests that are being received, and for answers that are not sent, each in its share (FairMemory). */
export class ReceivedBytes {
  readonly #unfinished: FairMemory;
  readonly #inExecution: Shares<string>;
  readonly #unsent: FairMemory;
  readonly #garbage = new CollectLater();

  constructor(max: number = MAX_UNFINISHED, maxInExecution: number = MAX_IN_EXECUTION, maxUnsent: number = MAX_UNSENT) {
    this.#unfinished = new FairMemory(max);
    this.#inExecution = new Shares(maxInExecution);
    this.#unsent = new FairMemory(maxUnsent);
  }

  /** Bytes of unfinished requests, with their costs. */
  get unfinished(): number {
    return this.#unfinished.bytes;
  }

  /** `cut` ends the request with an error for its sender, and drops what was received. */
  begin(sender: Sender, cut: (reason: ServiceError) => void): Received {
    const request = this.#unfinished.begin(sender, (bytes) => {
      this.#garbage.dropped(bytes);
      cut(tooMuchArrives());
    });
    request.set(REQUEST_COST);
    const { owner } = sender;
    let executing = 0;
    return {
      hold: (bytes) => request.set(REQUEST_COST + bytes),
      complete: (elsewhere = false) => {
        const bytes = Math.max(0, request.bytes - REQUEST_COST);
        if (bytes > SMALL) this.#garbage.dropped(bytes);
        request.leave();
        if (elsewhere || bytes <= SMALL) return;
        this.#requireShare(owner, bytes);
        executing = bytes;
      },
      end: () => {
        this.#garbage.dropped(Math.max(0, request.bytes - REQUEST_COST) + executing);
        request.leave();
        if (executing > 0) this.#inExecution.give(owner, executing);
        executing = 0;
      },
    };
  }

  /**
   * The memory of an answer, of so many bytes, until the function that is returned is called: when it was sent. `cut` closes what it
   * is sent on. The threat: clients that ask for large answers, or for many, and read none.
   */
  unsent(sender: Sender, bytes: number, cut: () => void): () => void {
    const answer = this.#unsent.begin(sender, cut);
    answer.set(bytes);
    return () => {
      if (bytes > SMALL) this.#garbage.dropped(bytes);
      answer.leave();
    };
  }

  #requireShare(owner: string, bytes: number): void {
    if (this.#inExecution.take(owner, bytes)) return;
    const left = this.#inExecution.available(owner);
    throw new ServiceError(
      'RESOURCE_EXHAUSTED',
      `the request has ${bytes} bytes, and ${left} are left of the caller's share of the memory for large requests in execution; try again when one of them has ended`,
    );
  }
}

function tooMuchArrives(): ServiceError {
  return new ServiceError(
    'RESOURCE_EXHAUSTED',
    'the server has no memory left for requests that arrive, and this one was the largest of the caller with most; try again later',
  );
}
