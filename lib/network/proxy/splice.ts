import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { reset } from './reset.ts';

/**
 * Passes bytes both ways until both sides have ended, with back-pressure; a side may end before the other one. If one side
 * fails, the other one is reset, so that its program does not take what it got for everything. `through`: from one to other.
 */
export function splice(one: Socket, other: Socket, through?: Transform): void {
  if (through) one.pipe(through).pipe(other);
  else one.pipe(other);
  other.pipe(one);
  endWith(one, other);
  endWith(other, one);
}

/** `other` is reset when `socket` closes before its peer has ended it. */
function endWith(socket: Socket, other: Socket): void {
  socket.on('error', () => undefined);
  const ended = () => {
    if (!socket.readableEnded || !socket.writableFinished) reset(other);
  };
  if (socket.destroyed) ended();
  else socket.once('close', ended);
}
