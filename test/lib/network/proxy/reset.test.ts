import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { reset } from '../../../../lib/network/proxy/reset.ts';

const accepted: Socket[] = [];
const server = createServer((socket) => {
  accepted.push(socket.pause());
  socket.on('error', () => undefined);
}).listen(0, '127.0.0.1');
afterAll(() => {
  for (const each of accepted) each.destroy();
  server.close();
});

async function dialled(): Promise<Socket> {
  if (!server.listening) await once(server, 'listening');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

it('closes a connection whose end waits behind bytes that nobody reads', async () => {
  const socket = await dialled();
  while (socket.write(Buffer.alloc(1 << 20)));
  for (let more = 0; more < 20; more++) socket.write(Buffer.alloc(1 << 20));
  socket.end();
  reset(socket);
  await once(socket, 'close');
  expect(socket.destroyed).toBe(true);
});

it('closes a connection between its end and the answer of the kernel', async () => {
  const socket = await dialled();
  socket.end();
  // The end is being sent in this turn.
  await Promise.resolve();
  reset(socket);
  await once(socket, 'close');
});

it('resets other connections', async () => {
  const count = accepted.length;
  const socket = await dialled();
  await expect.poll(() => accepted.length).toBe(count + 1);
  const failed = once(accepted[count]!.resume(), 'error');
  reset(socket);
  expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
});
