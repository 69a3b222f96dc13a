import type { EventEmitter } from 'node:events';
import type { RawData, WebSocket } from 'ws';
import { Inlet } from '../../../lib/inlet.ts';
import type { Received } from '../../../lib/limits/received-bytes.ts';

export interface PeerTimes {
  /** Milliseconds between two pings. */
  pingMs: number;
  /** Milliseconds for the client to answer a close; the connection is cut after that. */
  closeMs: number;
  /** The same after the end of the output, which a slow client may still be reading. */
  endMs: number;
}

const TIMES: PeerTimes = { pingMs: 20_000, closeMs: 1000, endMs: 30_000 };
const NORMAL_CLOSURE = 1000;

/** Pings without anything from the client after which it is taken for dead. Counted, as the server itself may stall. */
const MAX_UNANSWERED = 3;

/** Bytes of messages that are held until they are read; the socket is paused while there are more. */
const MAX_HELD = 64 * 1024;
/** What a message costs beyond its bytes, so that empty messages are bounded too. */
const MESSAGE_COST = 64;
/** Bytes that wait to be sent, above which an answer to a ping is left out. The threat: a client that never reads. */
const MAX_UNSENT = 64 * 1024;
/** Bytes of a close frame's reason (RFC 6455 section 5.5). */
const MAX_REASON = 123;

interface PeerOptions {
  /** The memory of what the client sends. */
  received?: Pick<Received, 'hold'> | undefined;
  /** The connection. */
  arriving?: EventEmitter;
  times?: PeerTimes;
}

export interface Message {
  data: Buffer;
  isBinary: boolean;
}

/**
 * The client at the other end of a WebSocket. Its messages are read at the consumer's pace, and it is read from no
 * faster. A client that sends nothing, not even an answer to a ping, is cut. While it is paused nothing is read from it:
 * then a ping to a client that has left fails, which ends the connection.
 */
export class Peer {
  readonly messages = new Inlet<Message>(MAX_HELD);
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  readonly #ws: WebSocket;
  readonly #times: PeerTimes;
  #unanswered = 0;
  /** Bytes that have arrived since the last message was complete. */
  #arrived = 0;
  #closing = false;

  constructor(ws: WebSocket, { received, arriving, times = TIMES }: PeerOptions = {}) {
    this.#ws = ws;
    this.#times = times;
    // The library holds what has arrived of a message.
    arriving?.on('data', (piece: Buffer) => {
      this.#arrived += piece.length;
      received?.hold(this.#arrived);
    });
    const seen = () => {
      this.#unanswered = 0;
    };
    ws.on('message', (data, isBinary) => this.#hold(data as Buffer, isBinary));
    ws.on('message', seen).on('ping', seen).on('pong', seen);
    // A violation of the protocol: ws has sent its close frame already.
    ws.on('error', () => this.close(1002, 'the frames are not valid'));
    const pinging = setInterval(() => this.#ping(), times.pingMs);
    this.closed = new Promise((resolve) => {
      ws.once('close', () => {
        clearInterval(pinging);
        this.messages.end();
        resolve();
      });
    });
  }

  /** Whether frames can be sent. Nothing more is to be produced for a client that has left. */
  get isOpen(): boolean {
    return !this.#closing && this.#ws.readyState === this.#ws.OPEN;
  }

  /** Resolves when the frame was passed to the kernel, or when the connection is closed. */
  send(frame: Buffer | string): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#ws.send(frame, () => resolve()));
  }

  /** For answers that the client can ask for faster than it reads them. */
  sendIfRead(frame: string): void {
    if (this.isOpen && this.#ws.bufferedAmount < MAX_UNSENT) this.#ws.send(frame);
  }

  /** Sends a close frame with a reason, and cuts the connection if the client does not answer it. */
  close(code: number, reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    this.messages.end();
    this.#ws.resume();
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.close(code, cut(reason));
    this.#terminateIn(code === NORMAL_CLOSURE ? this.#times.endMs : this.#times.closeMs);
  }

  /** For a call that was aborted: a client that does not read cannot be told. */
  cutSoon(): void {
    this.#terminateIn(2 * this.#times.closeMs);
  }

  #terminateIn(ms: number): void {
    const timer = setTimeout(() => this.#ws.terminate(), ms);
    void this.closed.then(() => clearTimeout(timer));
  }

  #hold(data: RawData & Buffer, isBinary: boolean): void {
    this.#arrived = 0;
    if (this.#closing) return;
    this.messages.add({ data, isBinary }, data.length + MESSAGE_COST);
    if (!this.messages.isFull || this.#ws.isPaused) return;
    this.#ws.pause();
    void this.messages.room().then(() => {
      this.#unanswered = 0;
      this.#ws.resume();
    });
  }

  #ping(): void {
    if (!this.#ws.isPaused && this.#unanswered++ >= MAX_UNANSWERED) this.#ws.terminate();
    else if (this.#ws.readyState === this.#ws.OPEN && this.#ws.bufferedAmount < MAX_UNSENT) this.#ws.ping();
  }
}

function cut(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= MAX_REASON) return reason;
  // A character that is cut in two becomes U+FFFD, which is longer.
  return bytes
    .subarray(0, MAX_REASON - 3)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}
