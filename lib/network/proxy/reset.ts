import type { Socket } from 'node:net';

/**
 * Ends a connection so that its other end sees an error. While the end of its own side is being sent, libuv cannot reset it:
 * Node would neither close the descriptor nor emit 'close', and the thread could not end. Then it is closed.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
