import type { IncomingMessage } from 'node:http';
import { pacedPipe } from './paced-pipe.ts';
import type { ProgramSocket } from './program-socket.ts';
import { responseHeaders } from './response-headers.ts';
import type { PreviewExchange } from './target.ts';

/** A WebSocket on which nothing moves for so long is cut: an hour. */
const IDLE_MS = 3_600_000;
const END_MS = 30_000;

/** Sends the answer that switches to a WebSocket, and from then on the bytes of both sides as they are. Resolves at the end. */
export function splice(
  { req, head: fromClient, target, pace }: Pick<PreviewExchange, 'req' | 'head' | 'target' | 'pace'>,
  answer: IncomingMessage,
  inside: ProgramSocket,
  fromInside: Buffer,
): Promise<void> {
  const client = req.socket;
  const fields = Object.entries(responseHeaders(answer, target)).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value.replace(/[\r\n\0]+/g, ' ')}`),
  );
  const lines = ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket', ...fields];
  client.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (fromInside.length > 0) client.write(fromInside);
  if (fromClient && fromClient.length > 0) inside.write(fromClient);
  client.setTimeout(0);
  inside.setTimeout(IDLE_MS, () => inside.destroy());
  pacedPipe(client, inside, pace);
  pacedPipe(inside, client, pace);
  inside.once('close', () => {
    client.destroySoon();
    // It may not read what it was sent last.
    client.setTimeout(END_MS, () => client.destroy());
  });
  client.on('error', () => inside.destroy());
  return new Promise((resolve) => {
    const end = () => {
      inside.destroy();
      resolve();
    };
    if (client.destroyed) end();
    else client.once('close', end);
  });
}
