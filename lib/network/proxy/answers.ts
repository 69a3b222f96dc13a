import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Refused, Unreachable } from './gate.ts';

/** Tells answers of the proxy from those of the other end. */
const HEADER = 'x-paddock-network';
const FATAL = 2;
/** Of HTTP/2. */
const [SETTINGS, GOAWAY, HTTP_1_1_REQUIRED] = [4, 7, 13];
export const ALERTS = { accessDenied: 49, unrecognizedName: 112 } as const;

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** The answer of HTTP to an error of the proxy. */
export function answerOf(error: unknown): Answer {
  if (error instanceof Refused) {
    return answer(403, `refused; code=${error.code}`, `refused by the network policy of the sandbox: ${error.message}`);
  }
  if (error instanceof Unreachable) {
    return answer(error.isTimeout ? 504 : 502, `failed; code=${error.code}`, error.message);
  }
  return answer(502, 'failed; code=protocol_error', 'the other end did not answer as HTTP requires');
}

export function answer(status: number, header: string, sentence: string): Answer {
  const body = `paddock: ${sentence}\n`;
  const type = 'text/plain; charset=utf-8';
  const length = String(Buffer.byteLength(body));
  return { status, headers: { [HEADER]: header, 'content-type': type, 'content-length': length }, body };
}

/** Answers on a connection whose parser is gone, and ends it. */
export function endWithAnswer(socket: Socket, { status, headers, body }: Answer): void {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`);
  endGently(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

/** Ends a TLS connection before it began. */
export function endWithAlert(socket: Socket, alert: number): void {
  endGently(socket, Buffer.of(21, 3, 3, 0, 2, FATAL, alert));
}

/** Refuses HTTP/2 as it provides for: empty SETTINGS, and GOAWAY with HTTP_1_1_REQUIRED and the sentence (RFC 9113, 6.8). */
export function endWithGoAway(socket: Socket, sentence: string): void {
  const text = Buffer.from(`paddock: ${sentence}`);
  const frame = (type: number, payload: Buffer) => {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head[3] = type;
    return Buffer.concat([head, payload]);
  };
  const goAway = Buffer.concat([Buffer.of(0, 0, 0, 0, 0, 0, 0, HTTP_1_1_REQUIRED), text]);
  endGently(socket, Buffer.concat([frame(SETTINGS, Buffer.alloc(0)), frame(GOAWAY, goAway)]));
}

/** The rest that the program sends is read and dropped for a moment: a reset would take the answer from it. */
function endGently(socket: Socket, last: string | Buffer): void {
  socket.on('error', () => undefined);
  socket.end(last);
  socket.resume();
  socket.setTimeout(1000, () => socket.destroy());
  const limit = setTimeout(() => socket.destroy(), 5000);
  socket.once('close', () => clearTimeout(limit));
}
