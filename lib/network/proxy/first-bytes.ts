import type { Socket } from 'node:net';
import { Transform, type TransformCallback } from 'node:stream';
import { readClientHello } from './client-hello.ts';

export type FirstBytes =
  /** A complete ClientHello. */
  | { protocol: 'tls'; head: Buffer; serverName: string | undefined }
  /** The start of what may be a request of HTTP/1. */
  | { protocol: 'http'; head: Buffer }
  /** Neither: any other protocol, or a connection that ended before. */
  | { protocol: 'other'; head: Buffer }
  /** HTTP/2 without TLS, whose requests are not checked. */
  | { protocol: 'http2'; head: Buffer }
  /** A TLS connection without a valid ClientHello, or a request of no version. */
  | { protocol: 'unchecked'; head: Buffer }
  /** The start of a line that may become one of HTTP, of a program that waits for something. */
  | { protocol: 'line'; head: Buffer }
  | { protocol: 'timeout'; head: Buffer };

type Recognized = 'more' | FirstBytes;

const HANDSHAKE = 22;
const MAX_LINE_BYTES = 8192;
const LINE_END = Buffer.from('\n');

/** Tells the protocol by what a client sends first. Its bytes stay in `head`, unless they are put back. */
export function recognize(head: Buffer): Recognized {
  if (head[0] === HANDSHAKE) {
    const hello = readClientHello(head);
    if (hello === 'more') return 'more';
    if (hello === 'invalid') return { protocol: 'unchecked', head };
    return { protocol: 'tls', head, serverName: hello.serverName };
  }
  if (!isOldHello(head)) return recognizeLine(head);
  return head.length < 5 ? 'more' : { protocol: 'unchecked', head };
}

/**
 * Whether it is, or may become, a ClientHello in the form of SSL 2, which servers of TLS understood for long: two bytes of length, its
 * type, and the version 3.x or 0.2.
 */
function isOldHello([first = 0, , type = 1, major = 3, minor = 2]: Buffer): boolean {
  return first >= 0x80 && type === 1 && (major === 3 || (major === 0 && minor === 2));
}

/**
 * The start of a line that a lenient server could take for a request: a method and a blank, in any bytes but controls. git's
 * own protocol has a zero in its first message. No part of it may match what the next one does: tenants choose the line.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells protocols apart.
const LIKE_REQUEST = /^[!#$%&'*+.^_`|~0-9A-Za-z-]*(?:[ \t\x0b\x0c\x1c-\x1f\x85\xa0][^\0-\x08\x0e-\x1b]*)?\r?$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: some servers take them for blanks.
const IS_HTTP = /[\s\x1c-\x1f\x85]HTTP\/\d/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const IS_OLD_HTTP = /^[\s\x1c-\x1f\x85]*(?:GET[\s\x1c-\x1f\x85]|[Gg][Ee][Tt][\s\x1c-\x1f\x85]+(?:\/|[A-Za-z]+:\/))/;

function recognizeLine(head: Buffer): Recognized {
  let start = 0;
  // Servers skip empty lines before a request.
  while (head[start] === 13 || head[start] === 10) start++;
  const end = head.indexOf(10, start);
  const line = head.toString('latin1', start, end < 0 ? undefined : end);
  if (line.startsWith('PRI * HTTP/2')) return { protocol: 'http2', head };
  if (IS_HTTP.test(line)) return { protocol: 'http', head };
  if (!LIKE_REQUEST.test(line)) return { protocol: 'other', head };
  if (end < 0 && head.length <= MAX_LINE_BYTES) return 'more';
  // Too long, or a request of HTTP/0.9.
  return { protocol: end < 0 || IS_OLD_HTTP.test(line) ? 'unchecked' : 'other', head };
}

/** Nothing comes after `head`. Some servers take the end for that of the line. */
function recognizeEnded(head: Buffer): FirstBytes {
  const found = head[0] === HANDSHAKE ? undefined : recognizeLine(Buffer.concat([head, LINE_END]));
  const isOther = head.length === 0 || found === 'more' || found?.protocol === 'other';
  return { protocol: isOther ? 'other' : 'unchecked', head };
}

interface FirstBytesOptions {
  /** What was read before. */
  read: Buffer;
  /** From the first byte on. */
  milliseconds: number;
  /** Milliseconds until the first byte; absent: the same. */
  wait?: number;
  /** Milliseconds after which the start of a line is passed on; absent: never. */
  line?: number;
  /** Ends the wait: the client waits for the other side. */
  until?: Promise<void>;
}

/**
 * Reads until the protocol is known. The socket is paused then and its bytes are those after `head`. Never rejects: a
 * socket that ends or fails before is 'other'.
 */
export function readFirstBytes(socket: Socket, options: FirstBytesOptions): Promise<FirstBytes> {
  const { read, milliseconds, wait = milliseconds, line } = options;
  return new Promise((resolve) => {
    let head = read;
    let timer: NodeJS.Timeout | undefined;
    const settle = (found: FirstBytes) => {
      clearTimeout(timer);
      socket.pause();
      socket.off('data', take).off('end', ended).off('close', ended);
      resolve(found);
    };
    const startTimer = () => {
      const isLine = line !== undefined && head.length > 0 && head[0] !== HANDSHAKE;
      const late = () => settle({ protocol: isLine ? 'line' : 'timeout', head });
      timer = setTimeout(late, head.length === 0 ? wait : isLine ? line : milliseconds);
    };
    const take = (chunk: Buffer) => {
      const isFirst = head.length === 0;
      head = isFirst ? chunk : Buffer.concat([head, chunk]);
      const found = recognize(head);
      if (found !== 'more') return settle(found);
      if (!isFirst) return;
      clearTimeout(timer);
      startTimer();
    };
    const ended = () => settle(recognizeEnded(head));
    startTimer();
    const known = head.length > 0 ? recognize(head) : 'more';
    if (known !== 'more') return settle(known);
    void options.until?.then(() => settle({ protocol: 'other', head }));
    socket.on('data', take).on('end', ended).on('close', ended);
    if (socket.destroyed || socket.readableEnded) return ended();
    socket.resume();
  });
}

/** Passes bytes on until they become a request or TLS, before they are complete. */
export class NoRequest extends Transform {
  readonly #refuse: () => void;
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(refuse: () => void) {
    super();
    this.#refuse = refuse;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    if (this.#head !== undefined) {
      this.#head = Buffer.concat([this.#head, chunk]);
      const found = recognize(this.#head);
      if (found !== 'more' && found.protocol !== 'other') return void this.#refuse();
      if (found !== 'more') this.#head = undefined;
    }
    done(null, chunk);
  }
}
