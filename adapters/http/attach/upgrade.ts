import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Node's parser sets this property, and reads it to decide who answers the request. */
interface Upgradable extends IncomingMessage {
  upgrade?: boolean | null;
}

/**
 * A class of requests for the option `IncomingMessage` of a server with an `upgrade` listener. Without it, Node hands
 * every request with an Upgrade header to the listener, whatever its path and protocol, and reads no body of it. Here
 * only those do that `wants` selects; all others are answered as requests without the header (RFC 9110 section 7.8),
 * like those of clients that offer h2c.
 */
export function upgradableRequest(wants: (req: IncomingMessage) => boolean): typeof IncomingMessage {
  /** Absent until the parser sets the property, and in the constructor of the base class. */
  const offered = new WeakSet<IncomingMessage>();
  class Request extends IncomingMessage {}
  Object.defineProperty(Request.prototype, 'upgrade', {
    get(this: Upgradable) {
      return offered.has(this) && (this.method === 'CONNECT' || wants(this));
    },
    set(this: Upgradable, value: unknown) {
      if (value === true) offered.add(this);
      else offered.delete(this);
    },
  });
  return Request;
}

/** Whether the request asks for a WebSocket and has no body. A body would be taken for frames, or for a request. */
export function asksForWebSocket({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['content-length'] === undefined &&
    headers['transfer-encoding'] === undefined
  );
}

/** The response to a request whose connection Node has released: with it, a refusal is sent like any other. */
export function responseOn(req: IncomingMessage, socket: Duplex): ServerResponse {
  // Without a listener an error would end the process: Node has removed its own.
  socket.on('error', () => socket.destroy());
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket as Socket);
  res.once('finish', () => (socket as Socket).destroySoon());
  return res;
}
