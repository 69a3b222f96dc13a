import type { Api } from '../api.ts';
import { invalid } from '../invalid.ts';
import type { CallOptions, WebSocketClass, WebSocketLike } from './call.ts';

/** `readyState` of a WebSocket. */
export const OPEN = 1;

/**
 * Returns the function that opens a WebSocket, whose caller must listen to it in the same turn. Browsers send no headers
 * with one, so the key is exchanged for a ticket in the URL.
 */
export async function socketTo(
  api: Api,
  path: string,
  query: string,
  options: CallOptions,
): Promise<() => WebSocketLike> {
  const { url, key } = api.settings;
  const Socket = api.settings.WebSocket ?? (globalThis as { WebSocket?: WebSocketClass }).WebSocket;
  if (Socket === undefined) {
    throw invalid('there is no WebSocket here: give one as the setting WebSocket, for example that of the package ws');
  }
  const asked = query === '' ? path : `${path}?${query}`;
  const prefix = new URL(url).pathname.replace(/\/$/, '');
  const target = new URL(`${prefix}${asked}`, url);
  if (key !== undefined) {
    target.searchParams.set('ticket', (await api.createTicket({ path: asked }, options)).ticket);
  }
  options.signal?.throwIfAborted();
  target.protocol = target.protocol === 'https:' ? 'wss:' : 'ws:';
  return () => new Socket(target.href);
}
