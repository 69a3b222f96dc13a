import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { ServiceError } from '../../../lib/errors.ts';
import { ReadPace } from '../../../lib/read-pace.ts';
import { SANDBOX, TOKEN, world } from './world.ts';

let at: Awaited<ReturnType<typeof world>>;
let respond: (req: IncomingMessage, res: ServerResponse) => void;
beforeEach(async () => {
  at = await world((req, res) => respond(req, res));
});
afterEach(() => at.close());

/** The bytes that the pace of all previews has counted from now on. */
function counted(): () => number {
  const took = vi.spyOn(ReadPace.prototype, 'took');
  onTestFinished(() => took.mockRestore());
  return () => took.mock.calls.reduce((sum, [, size]) => sum + size, 0);
}

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');
const idle = () => vi.waitFor(() => expect([at.uses(), at.cuts.size]).toEqual([0, 0]), { timeout: 30_000 });

describe('bodies', () => {
  it('pass in both directions at once, whole', async () => {
    respond = (req, res) => req.pipe(res);
    const body = randomBytes(20 * 1024 * 1024);
    const { text } = await at.ask(`${at.path}/`, at.key('ann'), { method: 'POST', body });
    expect(md5(Buffer.from(text, 'latin1'))).toBe(md5(body));
    await idle();
  });

  it('are produced no faster than the client reads them', async () => {
    let written = 0;
    respond = (_, res) => {
      const more = () => {
        while (written < 2 ** 28 && res.write(Buffer.alloc(65_536))) written += 65_536;
        res.once('drain', more);
      };
      more();
    };
    const sent = request({ port: at.rest.port, host: '127.0.0.1', path: `${at.path}/`, headers: at.key('ann') });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    let before = -1;
    await vi.waitFor(
      () => {
        const still = written === before;
        before = written;
        expect(still).toBe(true);
      },
      { interval: 300, timeout: 30_000 },
    );
    expect(written).toBeLessThan(2 ** 26);
    answer.destroy();
    await idle();
  });

  it('that are cut short in the sandbox are cut short for the client', async () => {
    respond = (_, res) => {
      res.write('part');
      setImmediate(() => res.destroy());
    };
    await expect(at.ask(`${at.path}/`, at.key('ann'))).rejects.toThrow(/aborted|hang up/);
    await idle();
  });

  it('may be answered before they are read', async () => {
    respond = (_, res) => res.writeHead(413).end('too large');
    const body = randomBytes(8 * 1024 * 1024);
    const { status } = await at.ask(`${at.path}/`, at.key('ann'), { method: 'POST', body });
    expect(status).toBe(413);
    await idle();
  });

  it('end in the sandbox when the client has left', async () => {
    const closed = new Promise((resolve) => {
      respond = (req) => req.socket.once('close', resolve);
    });
    const sent = request({ port: at.rest.port, host: '127.0.0.1', path: `${at.path}/`, headers: at.key('ann') });
    sent.on('error', () => undefined).end();
    await vi.waitFor(() => expect(at.cuts.size).toBe(1), { timeout: 30_000 });
    sent.destroy();
    await closed;
    await idle();
  });

  it('end when the port is closed', async () => {
    respond = (_, res) => res.write('a');
    const sent = request({ port: at.rest.port, host: '127.0.0.1', path: `${at.path}/`, headers: at.key('ann') });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    for (const cut of at.cuts) cut(new ServiceError('UNAVAILABLE', 'port 1 was closed') as never);
    await expect(answer.toArray()).rejects.toThrow(/aborted|hang up/);
    await idle();
  });
});

it('answers 502 for what is no server of HTTP, or says nothing', async () => {
  const answers: Record<string, string> = {
    '/a': 'SSH-2.0-x\r\n',
    '/b': '',
    '/d': 'HTTP/1.1 000 none\r\nContent-Length: 0\r\n\r\n',
    '/c': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  };
  at.inside.removeAllListeners('connection');
  at.inside.on('connection', (socket: Socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data: Buffer) => socket.end(answers[data.toString().split(' ')[1]!] ?? ''));
  });
  for (const path of ['/a', '/b', '/c', '/d']) expect((await at.ask(at.path + path, at.key('ann'))).status).toBe(502);
  await idle();
});

describe('WebSockets', () => {
  const echo = () => {
    const server = new WebSocketServer({ server: at.inside });
    server.on('connection', (socket, req) => {
      socket.send(JSON.stringify([req.url, req.headers.host, req.headers.cookie ?? null]));
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    });
    return server;
  };
  const url = () => `ws://127.0.0.1:${at.rest.port}`;

  it('pass by path and by host name, at the pace of all previews', async () => {
    echo();
    const bytesCounted = counted();
    const byPath = [`${url()}${at.path}/hmr?a=1`, at.key('ann'), '/hmr?a=1'] as const;
    const byHost = [`${url()}/hmr?paddock_token=${TOKEN}`, { host: at.host }, '/hmr'] as const;
    const sockets: WebSocket[] = [];
    for (const [address, headers, path] of [byPath, byHost]) {
      const socket = new WebSocket(address, 'vite-hmr', { headers });
      sockets.push(socket);
      const [first] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(first.toString())).toEqual([path, `localhost:${at.port}`, null]);
      const bytes = randomBytes(1_000_000);
      socket.send(bytes);
      const [data] = (await once(socket, 'message')) as [Buffer];
      expect(md5(data)).toBe(md5(bytes));
    }
    expect(bytesCounted()).toBeGreaterThan(4_000_000);
    expect(at.uses()).toBe(2);
    sockets[0]!.close();
    sockets[1]!.terminate();
    await idle();
  });

  it('are refused as other requests are', async () => {
    echo();
    const status = async (socket: WebSocket) => {
      const [, answer] = (await once(
        socket.on('error', () => undefined),
        'unexpected-response',
      )) as [unknown, IncomingMessage];
      answer.destroy();
      return answer.statusCode;
    };
    const cookie = `paddock_link=${TOKEN}`;
    expect(await status(new WebSocket(`${url()}${at.path}/`))).toBe(401);
    expect(
      await status(new WebSocket(`${url()}${at.path}/`, { headers: { cookie, 'sec-fetch-site': 'cross-site' } })),
    ).toBe(403);
    const foreign = { cookie, host: at.host, origin: 'http://p1-x.preview.test' };
    expect(await status(new WebSocket(`${url()}/`, { headers: foreign }))).toBe(403);
    expect(
      await status(new WebSocket(`${url()}${at.path.replace(/\d+\/proxy/, '9/proxy')}/`, { headers: at.key('ann') })),
    ).toBe(502);
    await idle();
  });

  it('that the program refuses are answered with its answer', async () => {
    respond = (_, res) => res.writeHead(418).end('no');
    const socket = new WebSocket(`${url()}${at.path}/`, { headers: at.key('ann') });
    const [, answer] = (await once(
      socket.on('error', () => undefined),
      'unexpected-response',
    )) as [unknown, IncomingMessage];
    expect(answer.statusCode).toBe(418);
    socket.terminate();
    await idle();
  });
});

describe('connections of TCP', () => {
  const path = () => `/v1/sandboxes/${SANDBOX}/ports/${at.port}/connect`;
  const open = (headers: Record<string, string> = at.key('ann'), query = '') =>
    new WebSocket(`ws://127.0.0.1:${at.rest.port}${path()}${query}`, { headers });

  it('carry bytes at the pace of all previews, and the end of each direction on its own', async () => {
    const bytesCounted = counted();
    at.inside.close();
    const server = createServer({ allowHalfOpen: true }, async (socket) => {
      let received = 0;
      for await (const chunk of socket.iterator({ destroyOnReturn: false })) received += (chunk as Buffer).length;
      socket.end(`got ${received}`);
    }).listen(at.port, '127.0.0.1');
    await once(server, 'listening');
    const socket = open();
    await once(socket, 'open');
    const frames: string[] = [];
    socket.on('message', (data) => frames.push(data.toString()));
    for (let count = 0; count < 20; count++) socket.send(randomBytes(100_000));
    socket.send('{"type":"eof"}');
    const [code] = await once(socket, 'close');
    expect([frames.join(''), code]).toEqual(['got 2000000{"type":"eof"}', 1000]);
    expect(bytesCounted()).toBeGreaterThan(2_000_000);
    server.close();
    await idle();
  });

  it('need a key, and tell a reset', async () => {
    respond = (req) => req.socket.resetAndDestroy();
    const [, refused] = (await once(
      open({}, `?paddock_token=${TOKEN}`).on('error', () => undefined),
      'unexpected-response',
    )) as [unknown, IncomingMessage];
    expect(refused.statusCode).toBe(401);
    refused.destroy();
    const socket = open(at.key('agent'));
    await once(socket, 'open');
    socket.send(Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'));
    expect((await once(socket, 'close'))[0]).toBe(1011);
    expect((await at.ask(path(), at.key('ann'))).status).toBe(426);
    await idle();
  });

  it('open with a ticket, once, for this path', async () => {
    const ticket = at.ticket(path());
    const socket = open({}, `?ticket=${ticket}`);
    await once(socket, 'open');
    for (const used of [ticket, at.ticket('/v1/sandboxes')]) {
      const again = open({}, `?ticket=${used}`).on('error', () => undefined);
      const [, refused] = (await once(again, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(refused.statusCode).toBe(401);
      refused.destroy();
    }
    socket.terminate();
    await idle();
  });
});
