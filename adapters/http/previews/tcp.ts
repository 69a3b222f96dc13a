import type { Socket } from 'node:net';
import type { ReadPace } from '../../../lib/read-pace.ts';
import type { Peer } from '../attach/peer.ts';
import { pacedTurn } from './paced-pipe.ts';

const EOF = '{"type":"eof"}';
/** Nothing moves for so long: an hour. */
const IDLE_MS = 3_600_000;

/**
 * Carries the bytes of a connection in the binary frames of a WebSocket, at the pace of the slower side and of `pace`. The text frame
 * `{"type":"eof"}` says that a side sends no more; the other direction goes on. Resolves when both are done.
 */
export async function carryBytes(peer: Peer, socket: Socket, pace: ReadPace): Promise<void> {
  socket.allowHalfOpen = true;
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  let failed = false;
  socket.on('error', () => {
    failed = true;
  });
  void peer.closed.then(() => socket.destroy());
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const toInside = fromClient(peer, socket, pace);
  await fromInside(peer, socket, pace).catch(() => {
    failed = true;
  });
  // A program that has closed its side may still read.
  if (!failed) await Promise.race([toInside, closed]);
  if (failed) peer.close(1011, 'the connection in the sandbox was reset');
  else peer.close(1000, 'the connection has ended');
  socket.destroy();
  await peer.closed;
}

async function fromInside(peer: Peer, socket: Socket, pace: ReadPace): Promise<void> {
  // The other direction outlives the end of this one.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    await peer.send(chunk as Buffer);
    await pacedTurn((chunk as Buffer).length, pace);
  }
  await peer.send(EOF);
}

async function fromClient(peer: Peer, socket: Socket, pace: ReadPace): Promise<void> {
  for await (const { data, isBinary } of peer.messages) {
    if (!isBinary && data.toString('utf8') !== EOF) {
      peer.close(1003, `bytes are binary frames, and the end of them is ${EOF}`);
      break;
    }
    if (!isBinary) break;
    if (socket.writable && !socket.write(data)) await drained(socket);
    await pacedTurn(data.length, pace);
  }
  if (socket.writable) socket.end();
}

function drained(socket: Socket): Promise<void> {
  if (socket.destroyed || !socket.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
