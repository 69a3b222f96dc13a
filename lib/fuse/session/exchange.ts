import type { Caller } from '../filesystem.ts';

/**
 * One request with room for its reply. The session owns the object and its buffers and reuses them for the next
 * request.
 */
export interface Exchange {
  request: Buffer;
  /** Length of the request in bytes, from the start of `request`. */
  length: number;
  nodeid: number;
  readonly caller: Caller;
  readonly reply: Buffer;
}

/** Returned in place of a reply size when no reply is sent. */
export const NO_REPLY = -1;
