import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { splitAddress } from '../contract/rest-client.ts';
import { eventually, type Scene } from '../contract/scene.ts';
import { DATA, frame, goAway, HEADERS, literalHeaders, PREFACE, SETTINGS } from './http2-frames.ts';
import { attacks, type Target } from './suite.ts';

const MIB = 1024 * 1024;
const MOST_GROWTH = 200 * MIB;

attacks('hostile clients', (target) => {
  const open: Socket[] = [];
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
  });

  const dial = async (address: string): Promise<Socket> => {
    const [host, port] = splitAddress(address);
    const socket = connect({ host, port });
    socket.on('error', () => {});
    open.push(socket);
    await once(socket, 'connect');
    return socket;
  };

  /** Sends a header slowly from the beginning; a later test waits for its end, which takes 15 to 20 seconds. */
  let slowHeader: Socket;
  let drip: NodeJS.Timeout;
  let openFor: Promise<number>;
  beforeAll(async () => {
    slowHeader = await dial(target.server.httpAddress);
    open.splice(0);
    slowHeader.write('GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    slowHeader.resume();
    const began = performance.now();
    openFor = new Promise((resolve) => slowHeader.once('close', () => resolve(performance.now() - began)));
    drip = setInterval(() => slowHeader.write('x'), 500);
  });
  afterAll(() => {
    clearInterval(drip);
    slowHeader.destroy();
  });

  it('51: a thousand connections that send nothing, or a header each second, do not block other clients', async () => {
    const { scene, server } = target;
    const before = server.rss();
    for (let index = 0; index < 500; index++) {
      const slow = await dial(server.httpAddress);
      slow.write(`POST /v1/sandboxes HTTP/1.1\r\nHost: localhost\r\nX-${index}: `);
      await dial(index % 2 === 0 ? server.httpAddress : server.grpcAddress);
    }
    const sandbox = await scene.sandboxOn({});
    expect(await scene.output(sandbox, 'echo served')).toBe('served\n');
    for (const socket of open) if (socket.writable) socket.write('x');
    expect((await scene.rest.send('GET', '/health')).status).toBe(200);
    expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
  });

  it.each([
    ['an endless header', `GET /health HTTP/1.1\r\nX: ${'x'.repeat(200_000)}`, /431/],
    ['a thousand headers', `GET /health HTTP/1.1\r\nHost: localhost\r\n${'a: b\r\n'.repeat(20_000)}\r\n`, /431/],
    [
      'two lengths',
      'POST /v1/codebases HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
      /400/,
    ],
    [
      'length and chunks',
      'POST /v1/codebases HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n',
      /400/,
    ],
    ['a bare line feed', 'GET /health HTTP/1.1\nHost: localhost\nX: y\r\n\r\n', /400|200/],
    ['data that is not HTTP', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', /400/],
    [
      'a negative chunk',
      'POST /v1/codebases HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n',
      /400/,
    ],
    [
      'a huge chunk',
      'POST /v1/codebases HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n',
      /400/,
    ],
    [
      'an upgrade',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
      /200|400|426/,
    ],
    ['CONNECT', 'CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', /^$|4\d\d/],
    // The answer is lost if the connection is reset while more is sent.
  ])('51: %s over HTTP/1.1 is refused', { retry: 3 }, async (_, request, answer) => {
    const { scene, server } = target;
    const socket = await dial(server.httpAddress);
    socket.write(Buffer.from(request, 'latin1'));
    const first = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
    expect(String(first[0]).split('\r\n')[0]).toMatch(answer);
    expect((await scene.rest.send('GET', '/health')).status).toBe(200);
  });

  it.each(floods())('52: %s', async (_, bytes) => {
    const { scene, server } = target;
    const before = server.rss();
    let most = 0;
    for (let round = 0; round < 3; round++) {
      const socket = await dial(server.grpcAddress);
      socket.resume();
      for (const chunk of bytes()) {
        if (socket.destroyed) break;
        if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
        most = Math.max(most, server.rss());
      }
      await stillServes(scene);
      socket.destroy();
    }
    expect(most - before).toBeLessThan(MOST_GROWTH);
    await stillServes(scene);
  });

  it('52: a message with a length above the limit, or marked as compressed, is refused without allocating memory', async () => {
    const { scene, server } = target;
    const before = server.rss();
    for (const head of [
      [0, 0xff, 0xff, 0xff, 0xff],
      [1, 0, 0, 0, 4],
      [255, 0, 0, 0, 4],
      [0, 0x7f, 0xff, 0xff, 0xff],
    ]) {
      const socket = await dial(server.grpcAddress);
      socket.resume();
      socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]));
      socket.write(frame(HEADERS, 4, 1, literalHeaders(call('GetSandbox'))));
      socket.write(frame(DATA, 0, 1, Buffer.from([...head, 1, 2, 3, 4])));
      await stillServes(scene);
    }
    expect(server.rss() - before).toBeLessThan(MOST_GROWTH);
  });

  it('51: clients that disconnect during any call leave nothing running', async () => {
    const { scene, server, state } = target;
    const sandbox = await scene.sandboxOn({});
    for (let index = 0; index < 20; index++) {
      const socket = await dial(server.httpAddress);
      const body = JSON.stringify({ command: 'echo started; exec sleep 8401' });
      const path = `/v1/sandboxes/${sandbox.id}/exec${index % 2 === 0 ? '/stream' : ''}`;
      socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    }
    await eventually(
      'commands under way',
      async () => state.processes().filter((line) => line.includes('sleep 8401')).length >= 20,
    );
    for (const socket of open.splice(0)) socket.resetAndDestroy();
    await eventually('the end of the commands', async () =>
      state.processes().some((line) => line.includes('sleep 8401')) ? undefined : true,
    );
    expect(await scene.output(sandbox, 'echo served')).toBe('served\n');
  });

  it('51: the server ends a request whose header or body does not arrive', async () => {
    const { server, scene } = target;
    const body = await dial(server.httpAddress);
    body.write(
      'POST /v1/codebases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"na',
    );
    body.resume();
    // Not earlier either: the clients of the other tests have not replaced it.
    expect(await openFor).toBeGreaterThan(14_000);
    // An upload may take any time while bytes arrive: a body has an idle limit, which is longer than this test waits.
    expect((await scene.rest.send('GET', '/health')).status).toBe(200);
  });
});

function call(method: string): [string, string][] {
  return [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', `/service.v1.SandboxService/${method}`],
    [':authority', 'a'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ];
}

async function stillServes(scene: Target['scene'] & Scene): Promise<void> {
  expect((await scene.rest.send('GET', '/health')).status).toBe(200);
  expect((await scene.grpc.call('ListSandboxes', {})).sandboxes).toEqual([]);
}

/** Floods of a few megabytes of frames, all valid except as their name states. */
function floods(): [name: string, bytes: () => Generator<Buffer>][] {
  const begin = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]);
  const headers = literalHeaders(call('ListSandboxes'));
  const RST_STREAM = 3;
  const PING = 6;
  const WINDOW_UPDATE = 8;
  const CONTINUATION = 9;
  const four = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);
  const repeated = (count: number, make: (index: number) => Buffer, size = 200) =>
    function* () {
      yield begin;
      for (let at = 0; at < count; at += size)
        yield Buffer.concat(Array.from({ length: size }, (_, index) => make(at + index)));
    };
  const one = Buffer.concat([begin, frame(HEADERS, 4, 1, headers)]);
  return [
    [
      'rapid reset: 20,000 calls, each taken back at once',
      repeated(20_000, (index) =>
        Buffer.concat([frame(HEADERS, 4, 1 + 2 * index, headers), frame(RST_STREAM, 0, 1 + 2 * index, four(8))]),
      ),
    ],
    ['20,000 calls opened and left', repeated(20_000, (index) => frame(HEADERS, 4, 1 + 2 * index, headers))],
    [
      'a header of 32 MB in CONTINUATION frames',
      function* () {
        yield Buffer.concat([begin, frame(HEADERS, 0, 1, headers)]);
        for (let index = 0; index < 2000; index++)
          yield frame(CONTINUATION, 0, 1, literalHeaders([[`x-${index}`, 'x'.repeat(16_000)]]));
      },
    ],
    [
      '200,000 empty CONTINUATION frames',
      function* () {
        yield Buffer.concat([begin, frame(HEADERS, 0, 1, headers)]);
        const many = Buffer.concat(Array.from({ length: 1000 }, () => frame(CONTINUATION, 0, 1)));
        for (let index = 0; index < 200; index++) yield many;
      },
    ],
    [
      'a message in 100,000 DATA frames of one byte',
      function* () {
        yield one;
        yield frame(DATA, 0, 1, Buffer.from([0, 0, 15, 0, 0]));
        const many = Buffer.concat(Array.from({ length: 1000 }, () => frame(DATA, 0, 1, Buffer.from('x'))));
        for (let index = 0; index < 100; index++) yield many;
      },
    ],
    [
      '200,000 empty DATA frames',
      function* () {
        yield one;
        const many = Buffer.concat(Array.from({ length: 1000 }, () => frame(DATA, 0, 1)));
        for (let index = 0; index < 200; index++) yield many;
      },
    ],
    ['200,000 PINGs', repeated(200_000, () => frame(PING, 0, 0, Buffer.alloc(8)), 1000)],
    ['200,000 SETTINGS', repeated(200_000, () => frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0xff, 0xff])), 1000)],
    [
      'WINDOW_UPDATE beyond the window, and of zero',
      function* () {
        yield one;
        for (let index = 0; index < 100; index++) {
          yield Buffer.concat([
            frame(WINDOW_UPDATE, 0, 0, four(0x7fff_ffff)),
            frame(WINDOW_UPDATE, 0, 1, four(0x7fff_ffff)),
          ]);
          yield frame(WINDOW_UPDATE, 0, 0, four(0));
        }
      },
    ],
    [
      'frames of every type and flag with random bytes',
      function* () {
        yield begin;
        let state = 12_345;
        const random = () => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
          return state >>> 8;
        };
        for (let index = 0; index < 2000; index++) {
          const payload = Buffer.from(Array.from({ length: random() % 64 }, () => random() & 0xff));
          yield frame(random() % 14, random() & 0xff, random() % 5, payload);
        }
      },
    ],
    [
      'GOAWAY, then calls',
      function* () {
        yield Buffer.concat([begin, goAway(0)]);
        for (let index = 0; index < 100; index++) yield frame(HEADERS, 4, 1 + 2 * index, headers);
      },
    ],
    [
      'a preface that is none',
      function* () {
        for (let index = 0; index < 1000; index++) yield Buffer.alloc(16_384, 0x41 + (index % 26));
      },
    ],
  ];
}
