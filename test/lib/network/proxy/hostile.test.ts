import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionPlaces } from '../../../../lib/network/proxy/connection-places.ts';
import { HttpProxy } from '../../../../lib/network/proxy/http-proxy.ts';
import { SandboxNetwork } from '../../../../lib/network/proxy/sandbox-network.ts';

const NOTHING = { action: 'allow', host: '', cidr: '', methods: [], path_prefix: '', tls: '' } as const;
let network: SandboxNetwork;
let http: HttpProxy;
let names: DatagramSocket;
/** What programs connect to, in place of a listener in a sandbox. */
let inside: Server;
let outside: Server;
let serve: (socket: Socket) => void;
let accepted: Socket[];
let dialled: Socket[];

const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeEach(async () => {
  [accepted, dialled] = [[], []];
  serve = (socket) => socket.pipe(socket);
  outside = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket.on('error', () => undefined));
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const ports = [portOf(outside)];
  const rules = [
    { ...NOTHING, host: 'api.test', ports },
    { ...NOTHING, cidr: '127.0.0.1/32', ports },
  ];
  http = new HttpProxy({ headers: 300, check: 50 });
  const shared = {
    resolution: { resolve: async () => ['127.0.0.1'] },
    limits: { allowMax: [{ host: '', cidr: '127.0.0.1/32', ports: [] }], ownAddresses: { has: () => false } },
    http,
    makeInspector: undefined,
    places: new ConnectionPlaces(10_000),
  };
  const terms = { policy: { mode: 'allow_list', rules, revision: 1 } as const, secrets: [] };
  network = new SandboxNetwork('s', terms, shared, { first: 300, half: 500 });
  names = createSocket('udp4');
  names.bind(0, '127.0.0.1');
  await once(names, 'listening');
  network.serveNames(names);
  const resolver = new dns.Resolver();
  resolver.setServers([`127.0.0.1:${names.address().port}`]);
  const [address] = await resolver.resolve4('api.test');
  inside = createServer({ allowHalfOpen: true }, (socket) => network.accept(socket, address!, portOf(outside)));
  inside.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(inside, 'listening');
});
afterEach(() => {
  network.close();
  http.close();
  for (const each of [...accepted, ...dialled]) each.destroy();
  for (const each of [inside, outside, names]) each.close();
});

function program(): Socket {
  const socket = connect({ port: portOf(inside), host: '127.0.0.1', allowHalfOpen: true });
  dialled.push(socket.on('error', () => undefined));
  return socket;
}

const openNow = () => network.connections.filter(({ closedAt }) => closedAt === undefined).length;
async function isServed(): Promise<boolean> {
  const socket = program();
  socket.end('\0hello');
  return (await text(socket).catch(() => '')) === '\0hello';
}

describe('a hostile program', () => {
  it('that opens thousands of connections has 256, and gets them again', async () => {
    const sockets = Array.from({ length: 2000 }, program);
    for (const each of sockets) each.write('\0x');
    const closed = () => sockets.filter((each) => each.destroyed || each.readableEnded).length;
    for (const each of sockets) each.resume();
    await expect.poll(closed).toBe(2000 - 256);
    expect(openNow()).toBe(256);
    const refusals = network.refusals();
    expect(refusals.map(({ code, count }) => [code, count])).toEqual([['too_many_connections', 2000 - 256]]);
    for (const each of sockets) each.destroy();
    await expect.poll(openNow).toBe(0);
    expect(await isServed()).toBe(true);
  });

  it('that sends a request or a ClientHello slowly is cut off', async () => {
    const [request, hello] = [program(), program()];
    request.write('GET / HTTP/1.1\r\nHost: api');
    hello.write('\x16\x03\x01\x02\x00\x01', 'latin1');
    const answers = await Promise.all([text(request).catch(() => ''), text(hello).catch(() => '')]);
    expect(answers[0]).toMatch(/^HTTP\/1.1 400 .*refused; code=bad_request/s);
    expect(answers[1]).toBe('');
    await expect.poll(openNow).toBe(0);
  });

  it('that drips a request after the start of a line does not get it through', async () => {
    const seen: Buffer[] = [];
    serve = (socket) => socket.on('data', (chunk) => seen.push(chunk));
    const socket = program();
    socket.write('GET');
    await expect.poll(() => Buffer.concat(seen).toString()).toBe('GET');
    socket.write(' / HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    socket.resume();
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(Buffer.concat(seen).toString()).toBe('GET');
    expect(network.refusals().map(({ code }) => code)).toEqual(['unknown_protocol']);
  });

  it('that vanishes, or reads nothing, holds up nobody and is closed', async () => {
    serve = (socket) => (accepted.length === 1 ? void socket.write(Buffer.alloc(64 << 20)) : socket.pipe(socket));
    const lazy = program();
    lazy.write('\0x');
    await expect.poll(() => accepted.length).toBe(1);
    expect(await isServed()).toBe(true);
    lazy.resetAndDestroy();
    await expect.poll(openNow).toBe(0);
    await expect.poll(() => accepted[0]!.destroyed).toBe(true);
  });

  it('that ends its side and waits is closed, too', async () => {
    serve = () => undefined;
    program().end('\0x');
    await expect.poll(openNow).toBe(1);
    await expect.poll(openNow).toBe(0);
  });
});

describe('a hostile server', () => {
  const ask = (bytes: string) => {
    const socket = program();
    socket.write(bytes);
    return text(socket).catch((error: NodeJS.ErrnoException) => error.code);
  };
  const get = () => ask(`GET / HTTP/1.1\r\nHost: api.test:${portOf(outside)}\r\nConnection: close\r\n\r\n`);

  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
    [
      'a change of protocol that nobody asked for',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    ],
    ['nothing', ''],
  ])('that answers with %s causes an error of the proxy', async (_, answer) => {
    serve = (socket) => socket.once('data', () => socket.end(answer));
    expect(await get()).toMatch(/^HTTP\/1.1 502 .*x-paddock-network: failed/s);
  });

  it('that ends in the middle of an answer does not make it look complete', async () => {
    serve = (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'));
    const answer = await get();
    expect(answer).not.toContain('\r\n0\r\n\r\n');
  });

  it('cannot answer before it is asked, for the next request', async () => {
    let requests = 0;
    serve = (socket) =>
      socket.on('data', () => {
        requests++;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
      });
    const host = `Host: api.test:${portOf(outside)}\r\n`;
    const answers = await ask(`GET /1 HTTP/1.1\r\n${host}\r\nGET /2 HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    expect(answers).not.toContain('evil');
    expect(requests).toBeGreaterThan(1);
  });
});
