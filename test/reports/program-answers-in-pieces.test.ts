import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ProgramSocket } from '../../adapters/http/previews/program-socket.ts';
import { ReadPace } from '../../lib/read-pace.ts';
import { until } from '../adapters/clients.ts';
import { world } from '../adapters/previews/world.ts';

const PIECE = 16_384;
const EARLY = Buffer.from('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(5000));

/** A program that answers each request, or each connection, with these bytes. */
let program: Server;
let bytes: Buffer;
const sockets: Socket[] = [];
beforeEach(async () => {
  program = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.end(bytes);
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  program.close();
});

/** A connection whose bytes have arrived. */
async function arrived(): Promise<Socket> {
  const socket = connect((program.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'readable');
  await until(() => socket.readableLength >= PIECE);
  return socket;
}

it('of programs that all have bytes, one is parsed in a turn, a piece of it', async () => {
  bytes = Buffer.alloc(65_536, 'x');
  let turn: (() => void) | undefined;
  const pace = new ReadPace(131_072, (next) => (turn = next));
  const took = vi.spyOn(pace, 'took');
  const lengths = [0, 0, 0];
  for (let index = 0; index < lengths.length; index++) {
    const socket = new ProgramSocket(await arrived(), pace);
    socket.on('data', (piece: Buffer) => (lengths[index]! += piece.length));
  }
  await until(() => took.mock.calls.length === lengths.length);
  expect(lengths).toEqual([0, 0, 0]);
  for (const after of [
    [PIECE, 0, 0],
    [PIECE, PIECE, 0],
    [PIECE, PIECE, PIECE],
  ]) {
    const next = turn!;
    turn = undefined;
    next();
    expect(lengths).toEqual(after);
  }
});

it('all bytes come in order, and then their end', async () => {
  bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
  const socket = new ProgramSocket(await arrived(), new ReadPace(131_072, (next) => void setImmediate(next)));
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
});

it('informational answers before the answer are parsed in pieces, and do not reach the client', async () => {
  const took = vi.spyOn(ReadPace.prototype, 'took');
  onTestFinished(() => took.mockRestore());
  const at = await world((req) =>
    req.socket.write(Buffer.concat([EARLY, Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')])),
  );
  onTestFinished(() => at.close());
  expect(await at.ask(`${at.path}/`, at.key('ann'))).toMatchObject({ status: 200, text: 'hi' });
  const sizes = took.mock.calls.map(([, size]) => size);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(EARLY.length);
});
