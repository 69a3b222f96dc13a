import type { Duration } from '../duration.ts';

/** Bytes to send. Only what can be read twice is sent again after a lost connection: not a stream, but a function of one. */
export type Body = Content | (() => Content | Promise<Content>);

export type Content = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

export interface CallOptions {
  /** Ends the call. The command of an Exec or a stream is killed. */
  signal?: AbortSignal | undefined;
  /** Time without any byte of the answer after which the call fails with RequestTimeoutError; of a command, until it is killed. */
  timeout?: Duration | undefined;
  /** Repetitions of the call at most. */
  maxRetries?: number | undefined;
  /** For operations that create or commit something. Chosen at random if it is absent. */
  idempotencyKey?: string | undefined;
  /** Further headers of the request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The call has no further effect if it is repeated, although others of its operation may have. */
  repeatable?: boolean | undefined;
  /** Resolve to an answer only once its whole body has arrived: a call whose connection is lost before is repeated. */
  whole?: boolean | undefined;
}

/** How an operation is called over HTTP. */
export interface Row {
  readonly method: string;
  readonly path: string;
  readonly kind: string;
  /** What a repeated call does: nothing (`read`, `same`), or its effect `again`, unless it has the same idempotency `key`. */
  readonly retry: string;
  /** Names of the fields of the request; "!": see `argumentsOf`. */
  readonly fields: string;
  /** Query parameter that the path is used with. */
  readonly query?: string;
  /** Field of the request at which a stream goes on; the last message has an `end`. */
  readonly cursor?: string;
  /** Field of each message: the value of the cursor after it. */
  readonly position?: string;
  /** The response has no fields. */
  readonly empty?: boolean;
  /** Field of the response that has the elements of a list. */
  readonly list?: string;
  /** The list comes page by page. */
  readonly pages?: boolean;
}

export interface Settings {
  /** Address of the server, for example "http://127.0.0.1:8080". */
  url?: string | undefined;
  /**
   * Key of the caller; none if the server has no authentication. By default PADDOCK_KEY, but only for the server of
   * PADDOCK_URL: not if `url` names another one.
   */
  key?: string | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Time without any byte of an answer after which a call fails with RequestTimeoutError. Not for commands and the like, whose answer
   * may take any time. Default: that of `fetch`, 5 minutes in Node.js.
   */
  timeout?: Duration | undefined;
  /** Repetitions of a call at most. 0: none. Default: 3. */
  maxRetries?: number | undefined;
  /** Used instead of the global `WebSocket`, which Node.js has from release 22 on. */
  WebSocket?: WebSocketClass | undefined;
}

/** What this package needs of a WebSocket. */
export interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  /** Bytes that were given to `send` and are not yet sent. */
  readonly bufferedAmount: number;
  /** Where they exist, as in the package ws: output that its reader does not take stays with the server. */
  pause?(): void;
  resume?(): void;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  addEventListener(type: 'open' | 'close' | 'error' | 'message', listener: (event: never) => void): void;
}

export type WebSocketClass = new (url: string) => WebSocketLike;
