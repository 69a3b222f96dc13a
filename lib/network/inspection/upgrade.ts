import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { check, holdHead, Refused } from './checked.ts';
import { answered, bodyOfAnswer, type Inspected, open } from './exchange.ts';
import { answerOfProxy, passedHeaders } from './messages.ts';
import { UpstreamError } from './upstream.ts';

/**
 * Carries out a request for a WebSocket. Its head is checked and changed like that of any request; what is sent over it
 * afterwards passes as it is. Resolves when it is upgraded or answered. Never rejects.
 */
export async function upgrade(
  inspected: Inspected,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  let release: (() => void) | undefined;
  try {
    if (request.headers.upgrade?.toLowerCase() !== 'websocket') {
      throw new Refused(501, 'unsupported_upgrade', 'only WebSockets can be upgraded to');
    }
    const checked = check(request, inspected.target, inspected.sandbox);
    release = holdHead(checked, inspected);
    const sent = open(inspected, request, checked, undefined, ['Connection', 'Upgrade', 'Upgrade', 'websocket']);
    socket.once('close', () => sent.destroy());
    let isUpgraded = false;
    const refusal = answered(sent);
    sent.once('upgrade', (answer, server, rest) => {
      isUpgraded = true;
      socket.write(
        headOf(answer, (text) => checked.use.answered(text), ['Connection', 'Upgrade', 'Upgrade', 'websocket']),
      );
      socket.write(rest);
      server.write(head);
      server.on('error', () => socket.destroy());
      // The server that limited it while it sent requests is gone.
      for (const each of [socket, server] as Socket[]) each.setTimeout(inspected.idleMs, () => socket.destroy());
      server.once('close', () => socket.destroy());
      socket.once('close', () => server.destroy());
      server.pipe(socket).pipe(server);
    });
    sent.end();
    await refusal
      .then(async (answer) => {
        socket.write(headOf(answer, (text) => checked.use.answered(text), ['Connection', 'close']));
        // A server that ignores the upgrade answers as to any request, and may reflect a value like any other.
        await (await bodyOfAnswer(answer, undefined, checked)).send(socket);
      })
      .catch((error) => {
        if (isUpgraded) return;
        if (error instanceof UpstreamError) refuse(socket, error);
        else socket.destroy();
      });
  } catch (error) {
    refuse(socket, error);
  } finally {
    release?.();
  }
}

function refuse(socket: Duplex, error: unknown): void {
  const status = error instanceof Refused ? error.status : 502;
  const code = error instanceof Refused ? error.code : 'unreachable';
  const { headers, body } = answerOfProxy(status, code, (error as Error).message);
  socket.end(`${lines(`HTTP/1.1 ${status} Refused`, headers)}${body}`);
}

function headOf(answer: IncomingMessage, shown: (text: string) => string, more: readonly string[]): string {
  const line = `HTTP/1.1 ${answer.statusCode} ${shown(answer.statusMessage ?? '')}`;
  const passed = passedHeaders(answer, (value, name) => (name === 'content-length' ? undefined : shown(value)), shown);
  return lines(line, [...passed, ...more]);
}

function lines(first: string, headers: readonly string[]): string {
  let text = `${first}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}
