import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerAndLinger, DiscardPace, type LingerLimits } from '../../adapters/http/lingering-close.ts';
import { ServiceError } from '../../lib/errors.ts';
import { Refusal } from '../../lib/limits/refusal.ts';
import { Turns } from '../../lib/turns.ts';
import { type Rest, restOver } from './clients.ts';
import { fakeServices } from './fake-services.ts';

const MIB = 1024 * 1024;

/** Sends `bytes` in chunks of `chunk`, like a client that reads no answer before it has sent everything. */
async function sendAllThenRead(port: number, head: string, bytes: number, chunk = MIB): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const failed = new Promise<never>((_, reject) => void socket.once('error', reject));
  const received = (async () => {
    await once(socket, 'connect');
    socket.pause().write(head.replaceAll('\n', '\r\n'));
    for (let sent = 0; sent < bytes; sent += chunk) {
      if (!socket.write(Buffer.alloc(chunk, ' '))) await once(socket, 'drain');
    }
    let text = '';
    for await (const data of socket) text += String(data);
    return text;
  })();
  try {
    return await Promise.race([received, failed]);
  } finally {
    socket.destroy();
  }
}

describe('an answer that is sent before the body is complete', () => {
  let rest: Rest;
  beforeEach(async () => {
    const upload = async (_id: string, _path: string, content: AsyncIterable<Uint8Array>) => {
      for await (const _ of content) throw new ServiceError('RESOURCE_EXHAUSTED', 'the disk is full');
      throw new Error('the body is empty');
    };
    rest = await restOver(fakeServices({ codebases: { upload } }));
  });
  afterEach(() => rest.close());

  const size = 80 * MIB;
  const sent = 24 * MIB;
  const framed = `host: localhost\ncontent-length: ${size}`;
  it.each([
    ['a raw upload', `PUT /v1/codebases/cb_1/files/f HTTP/1.1\n${framed}\n\n`, 429],
    [
      'a form',
      `POST /v1/codebases/cb_1/files HTTP/1.1\n${framed}\ncontent-type: multipart/form-data; boundary=b\n\n` +
        '--b\ncontent-disposition: form-data; name="path"\n\nf\n' +
        '--b\ncontent-disposition: form-data; name="file"; filename="f"\n\n',
      429,
    ],
    ['JSON above the limit', `POST /v1/codebases HTTP/1.1\n${framed}\n\n`, 400],
    [
      'a request to another host',
      `PUT /v1/codebases/cb_1/files/f HTTP/1.1\n${framed.replace('localhost', 'x.example')}\n\n`,
      403,
    ],
  ])('reaches a client that first continues to send %s', async (_what, head, status) => {
    const answer = await sendAllThenRead(rest.port, head, sent);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n.*\r\n\r\n{"code":.*}$`, 's'));
  });

  it('keeps the connection open for the next request if little of the body is left', async () => {
    const head = 'PUT /v1/codebases/cb_1/files/f HTTP/1.1\nhost: localhost\ncontent-length: 1000\n\n';
    const next = 'GET /health HTTP/1.1\nhost: localhost\nconnection: close\n\n';
    const answer = await sendAllThenRead(rest.port, head + ' '.repeat(1000) + next, 0);
    expect(answer).toMatch(/^HTTP\/1.1 429 .*HTTP\/1.1 200 .*{"status":"ok"}$/s);
  });
});

it('each of several clients whose refused bodies are read at a pace gets its answer', async () => {
  const refuse = () => {
    throw new Refusal('RESOURCE_EXHAUSTED', 'too many', { holdMs: 1 });
  };
  const rest = await restOver(fakeServices({ access: { admit: refuse, count: refuse } }));
  try {
    const size = 16 * MIB;
    const head = `PUT /v1/codebases/cb_1/files/f HTTP/1.1\nhost: localhost\ncontent-length: ${size}\n\n`;
    const answers = await Promise.all([1, 2].map(() => sendAllThenRead(rest.port, head, size)));
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 429 .*"too many".*}$/s);
  } finally {
    await rest.close();
  }
});

describe('the pace at which refused bodies are read', () => {
  let now = 0;
  const pace = new DiscardPace(() => now);

  it('is 32 MiB a second for all connections together', () => {
    expect([1, 2, 3, 4].map(() => pace.after(8 * MIB))).toEqual([250, 500, 750, 1000]);
    now += 1000;
    expect(pace.after(8 * MIB)).toBe(250);
  });

  it('holds no connection for more than ten seconds, however many there are', () => {
    for (let n = 0; n < 100_000; n++) pace.after(64 * 1024);
    expect(pace.after(64 * 1024)).toBe(10_000);
    now += 10_250;
    expect(pace.after(8 * MIB)).toBe(250);
  });
});

describe('the connection of a body that continues after the response', () => {
  const lax: LingerLimits = { bytes: Number.MAX_SAFE_INTEGER, idleMs: 60_000, totalMs: 60_000 };
  const stop = new AbortController();
  it.each([
    ['is closed after too many bytes', { bytes: MIB }, (socket: Socket) => socket.write(Buffer.alloc(MIB))],
    ['is closed when no bytes arrive', { idleMs: 50 }, () => {}],
    [
      'is closed after the time limit, however few bytes arrive',
      { totalMs: 100 },
      (socket: Socket) => socket.write('x'),
    ],
    ['is closed when the server closes', {}, () => stop.abort()],
  ] as [string, Partial<LingerLimits>, (socket: Socket) => void][])('%s', async (_what, limits, write) => {
    const server = createServer((req, res) => {
      void answerAndLinger(
        { req, res, signal: stop.signal, turns: new Turns(), pace: undefined },
        429,
        {},
        { ...lax, ...limits },
      );
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {}).resume();
    client.write(`PUT / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${Number.MAX_SAFE_INTEGER}\r\n\r\n`);
    const [connection] = await accepted;
    const cut = once(connection, 'close');
    // The answer is sent at once, and then the server closes its sending side.
    await once(client, 'end');
    const timer = setInterval(() => write(client), 5);
    await cut.finally(() => clearInterval(timer));
    client.destroy();
    await new Promise((done) => server.close(done));
  });
});
