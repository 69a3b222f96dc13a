import { ServiceError } from '../errors.ts';
import { Shares } from '../shares.ts';
import { CollectLater } from './collect-later.ts';

/** Bytes of all requests that have not arrived completely: room for one of the largest requests, and for many others. */
const MAX_UNFINISHED = 96 * 1024 * 1024;
/** Bytes of all requests that are being carried out; one owner gets half of it. */
const MAX_IN_EXECUTION = 128 * 1024 * 1024;
/** Bytes up to which a request that is carried out costs no more than its call. */
const SMALL = 65_536;
/** What an unfinished request costs beyond its bytes: its call, its stream or its connection. */
const REQUEST_COST = 16_384;

/** Who sends a request. Without a key, `owner` and `key` are empty. */
export interface Sender {
  owner: string;
  key: string;
  connection: object;
}

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

/**
 * Memory for requests that are being received, of all doors together. If more arrives than there is room for, one request
 * is cut: the largest of the connection with most, of the key with most, of the owner with most. So nobody can take what
 * others need, however many connections, streams and keys it uses: who holds less than others is never cut.
 */
export class ReceivedBytes {
  readonly #all = new Holder(undefined, undefined);
  readonly #max: number;
  readonly #inExecution: Shares<string>;
  readonly #garbage = new CollectLater();

  constructor(max: number = MAX_UNFINISHED, maxInExecution: number = MAX_IN_EXECUTION) {
    this.#max = max;
    this.#inExecution = new Shares(maxInExecution);
  }

  /** Bytes of unfinished requests, with their costs. */
  get unfinished(): number {
    return this.#all.bytes;
  }

  /** `cut` ends the request with an error for its sender, and drops what was received. */
  begin({ owner, key, connection }: Sender, cut: (reason: ServiceError) => void): Received {
    const place = this.#all.inner(owner).inner(key).inner(connection);
    const request = new Holder(place, cut);
    place.within.set(request, request);
    request.set(REQUEST_COST);
    this.#keepWithin();
    let executing = 0;
    return {
      hold: (bytes) => {
        if (request.gone) return;
        request.set(REQUEST_COST + bytes);
        this.#keepWithin();
      },
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

  #keepWithin(): void {
    while (this.#all.bytes > this.#max) {
      const largest = this.#all.largest();
      this.#garbage.dropped(largest.bytes);
      largest.leave();
      largest.cut?.(
        new ServiceError(
          'RESOURCE_EXHAUSTED',
          'the server has no memory left for requests that arrive, and this one was the largest of the caller with most; try again later',
        ),
      );
    }
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

/** All requests, those of an owner, of a key, of a connection, or one request. */
class Holder {
  bytes = 0;
  gone = false;
  readonly within = new Map<unknown, Holder>();
  readonly cut: ((reason: ServiceError) => void) | undefined;
  readonly #outer: Holder | undefined;
  #name: unknown = this;

  constructor(outer: Holder | undefined, cut: ((reason: ServiceError) => void) | undefined) {
    this.#outer = outer;
    this.cut = cut;
  }

  inner(name: unknown): Holder {
    const known = this.within.get(name);
    if (known !== undefined) return known;
    const added = new Holder(this, undefined);
    added.#name = name;
    this.within.set(name, added);
    return added;
  }

  set(bytes: number): void {
    const more = bytes - this.bytes;
    for (let each: Holder | undefined = this; each !== undefined; each = each.#outer) each.bytes += more;
  }

  /** Removes it, and what has nothing else in it. */
  leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.set(0);
    let each: Holder = this;
    while (each.#outer !== undefined && each.within.size === 0) {
      each.#outer.within.delete(each.#name);
      each = each.#outer;
    }
  }

  largest(): Holder {
    let at: Holder = this;
    while (at.within.size > 0) {
      let most: Holder | undefined;
      for (const each of at.within.values()) if (most === undefined || each.bytes > most.bytes) most = each;
      at = most!;
    }
    return at;
  }
}
