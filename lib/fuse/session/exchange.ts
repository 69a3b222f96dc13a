import type { Caller } from '../filesystem.ts';

/** One request. The object and its buffers are the session's and used again for the next request. */
export interface Exchange {
  readonly request: Buffer;
  /** Bytes of `request` that are this request. */
  length: number;
  nodeid: number;
  readonly caller: Caller;
  readonly reply: Buffer;
}

/** The size of an answer that is not sent. */
export const NO_REPLY = -1;
