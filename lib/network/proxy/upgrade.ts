import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerOf, endWithAnswer } from './answers.ts';
import { endToEnd, passBack, startRequest, type UpstreamAgent } from './forward-request.ts';
import type { RequestTarget } from './request-target.ts';
import { reset } from './reset.ts';
import { splice } from './splice.ts';

/** Milliseconds without a byte. */
const MAX_IDLE_MS = 900_000;

/** Passes a WebSocket through, if the other side changes to it. `socket` has no parser any more. */
export function openTunnel(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { target, agent }: { target: RequestTarget; agent: UpstreamAgent },
): void {
  const upstream = startRequest(request, target, agent, true);
  let answered = false;
  const failed = (error?: Error) => {
    if (!answered) endWithAnswer(socket, answerOf(error));
    answered = true;
  };
  socket.on('error', () => undefined).once('close', () => upstream.destroy());
  upstream.on('error', failed).on('close', () => failed());
  upstream.on('upgrade', (answer, other, first) => {
    answered = true;
    const headers = ['Connection', 'Upgrade', 'Upgrade', 'websocket', ...endToEnd(answer.rawHeaders)];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines(headers)}\r\n`, 'latin1');
    if (first.length > 0) other.unshift(first);
    if (head.length > 0) socket.unshift(head);
    const both = [socket, other as Socket];
    for (const each of both) each.setTimeout(MAX_IDLE_MS, () => both.forEach(reset));
    splice(socket, other as Socket);
  });
  upstream.on('response', (answer) => {
    answered = true;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    // The server that told it is gone.
    socket.on('drain', () => response.emit('drain'));
    passBack(answer, response);
  });
  upstream.end();
}

/** The head of the request as it would be without a change of protocol. */
export function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const kept = rawHeaders.filter((_, at) => rawHeaders[at - (at % 2)]!.toLowerCase() !== 'upgrade');
  return Buffer.from(`${method} ${url} HTTP/${httpVersion}\r\n${lines(kept)}\r\n`, 'latin1');
}

function lines(headers: readonly string[]): string {
  return headers.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\r\n`)).join('');
}
