import { once } from 'node:events';
import { connect } from 'node:net';
import { Server } from '@grpc/grpc-js';
import { afterEach, expect, it } from 'vitest';
import { listen } from '../../adapters/grpc/listen.ts';
import { silentLog } from '../../lib/log.ts';
import { until } from './clients.ts';

const address = { host: '127.0.0.1', port: 0 };
/** The client's preface and an empty SETTINGS frame. */
const HANDSHAKE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function opened(maxConnections: number, handshakeMs: number) {
  const server = new Server();
  const { port, stop } = await listen(server, { address, maxConnections, log: silentLog }, handshakeMs);
  const dial = () => {
    const socket = connect(port, '127.0.0.1')
      .on('error', () => {})
      .resume();
    ends.push(() => socket.destroy());
    return socket;
  };
  ends.push(() => server.forceShutdown(), stop);
  return dial;
}

it('a gRPC server closes a connection above the limit at once, and keeps the open ones', async () => {
  const dial = await opened(2, 60_000);
  const [first, second] = [dial(), dial()];
  // The server's SETTINGS frame: the server accepted the connection.
  await Promise.all([once(first, 'data'), once(second, 'data')]);
  await once(dial(), 'close');
  expect([first.destroyed, second.destroyed]).toEqual([false, false]);
  first.destroy();
  await once(first, 'close');
  for (;;) {
    const again = dial();
    const served = await Promise.race([once(again, 'data').then(() => true), once(again, 'close').then(() => false)]);
    if (served) break;
  }
});

it('a gRPC server closes the oldest connection without a handshake for a new one', async () => {
  const dial = await opened(8, 60_000);
  const ready = dial();
  let received = Buffer.alloc(0);
  ready.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data]);
  });
  ready.write(HANDSHAKE);
  const acknowledgement = Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]);
  await until(() => received.includes(acknowledgement));
  const silent = dial();
  const closed = once(silent, 'close');
  for (let index = 0; index < 10; index++) await once(dial(), 'connect');
  await closed;
  expect(ready.destroyed).toBe(false);
});

it('a gRPC server closes a connection without a handshake, and keeps one with a handshake', async () => {
  const dial = await opened(10, 200);
  const begun = dial();
  begun.write(HANDSHAKE);
  const silent = dial();
  const half = dial();
  half.write('PRI * HTTP/2.0\r\n');
  await Promise.all([once(silent, 'close'), once(half, 'close')]);
  expect(begun.destroyed).toBe(false);
});
