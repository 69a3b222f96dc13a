import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Decision, NetworkRule } from '../../../../lib/network/policy/policy.ts';
import { ConnectionPlaces } from '../../../../lib/network/proxy/connection-places.ts';
import { dial } from '../../../../lib/network/proxy/dial.ts';
import { readFirstBytes } from '../../../../lib/network/proxy/first-bytes.ts';
import { HttpProxy } from '../../../../lib/network/proxy/http-proxy.ts';
import { SandboxNetwork } from '../../../../lib/network/proxy/sandbox-network.ts';

const RULE: NetworkRule = { action: 'allow', host: '', cidr: '', ports: [], methods: [], path_prefix: '', tls: '' };
let network: SandboxNetwork;
let http: HttpProxy;
let names: DatagramSocket;
/** What programs connect to, in place of a listener in a sandbox. */
let inside: Server;
let outside: Server;
let serve: (socket: Socket) => void;
let accepted: Socket[];
let dialled: Socket[];
/** Addresses of all names. */
let answered: string[];

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const policy = (more: Partial<NetworkRule> = {}) => {
  const ports = [portOf(outside)];
  const rules = [
    { ...RULE, host: 'api.test', ports, ...more },
    { ...RULE, cidr: '127.0.0.1/32', ports },
  ];
  return { mode: 'allow_list', rules, revision: 1 } as const;
};

beforeEach(async () => {
  [accepted, dialled, answered] = [[], [], ['127.0.0.1']];
  serve = (socket) => socket.pipe(socket);
  outside = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.push(socket.on('error', () => undefined));
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(outside, 'listening');
  http = new HttpProxy();
  const shared = {
    resolution: { resolve: async () => answered },
    limits: { allowMax: [{ host: '', cidr: '127.0.0.1/32', ports: [] }], ownAddresses: { has: () => false } },
    http,
    makeInspector: undefined,
    places: new ConnectionPlaces(10_000),
  };
  network = new SandboxNetwork('s', { policy: policy(), secrets: [] }, shared);
  names = createSocket('udp4');
  names.bind(0, '127.0.0.1');
  await once(names, 'listening');
  network.serveNames(names);
  const resolver = new dns.Resolver();
  resolver.setServers([`127.0.0.1:${names.address().port}`]);
  const [address] = await resolver.resolve4('api.test');
  inside = createServer({ allowHalfOpen: true }, (socket) => network.accept(socket, address!, portOf(outside)));
  inside.listen(0, '127.0.0.1');
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
const answerTo = (bytes: string, isEnd = true) => {
  const socket = program();
  socket.write(bytes, 'latin1');
  if (isEnd) socket.end();
  return text(socket).catch((error: NodeJS.ErrnoException) => error.code);
};
const seen: Buffer[] = [];
const host = () => `Host: api.test:${portOf(outside)}\r\n`;
const codes = () => network.refusals().map(({ code }) => code);

describe('a connection to another port', () => {
  it('passes the start of a line and its end on', async () => {
    expect(await answerTo('hello')).toBe('hello');
  });

  it('passes no request that ends with the connection', async () => {
    seen.length = 0;
    serve = (socket) => socket.on('data', (chunk) => seen.push(chunk));
    for (const request of ['GET /', '\x16\x03\x01']) expect(await answerTo(request)).toBe('ECONNRESET');
    expect(Buffer.concat(seen).toString()).toBe('');
    expect(codes()).toEqual(['unknown_protocol']);
  });

  it('passes nothing but TLS and HTTP if rules are about requests', async () => {
    const socket = program();
    socket.write('\0before');
    await once(socket, 'data');
    network.update(policy({ methods: ['GET'], tls: 'inspect' }), []);
    await expect.poll(() => socket.destroyed).toBe(true);
    expect(accepted).toHaveLength(1);
    expect(await answerTo('\0after')).toBe('ECONNRESET');
    expect(accepted).toHaveLength(1);
    expect(codes()).toEqual(['needs_inspection']);
    serve = (each) => each.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    const request = (method: string) => `${method} / HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`;
    expect(await answerTo(request('GET'), false)).toMatch(/^HTTP\/1.1 200 /);
    expect(await answerTo(request('DELETE'), false)).toMatch(/^HTTP\/1.1 403 /);
  });

  it('is told by a frame of HTTP/2 that it needs TLS', async () => {
    const answer = await answerTo('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', false);
    const [settings, goAway] = ['\0\0\0\x04\0\0\0\0\0', '\x07\0\0\0\0\0\0\0\0\0\0\0\0\r'];
    expect(answer?.startsWith(settings)).toBe(true);
    expect(answer?.slice(settings.length + 3)).toBe(
      `${goAway}paddock: HTTP/2 (gRPC) without TLS cannot be checked: use TLS, or HTTP/1.1`,
    );
    expect(accepted.every((each) => each.bytesRead === 0)).toBe(true);
    expect(codes()).toEqual(['unknown_protocol']);
  });

  it('that is ended after its request gets the answer', async () => {
    serve = (socket) => socket.once('data', () => setImmediate(() => socket.end('HTTP/1.0 200 OK\r\n\r\nthe answer')));
    expect(await answerTo(`GET / HTTP/1.1\r\n${host()}\r\n`)).toMatch(/^HTTP\/1.1 200 .*the answer/s);
    const two = `GET / HTTP/1.1\r\n${host()}\r\n`.repeat(2);
    serve = (socket) => socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    expect(((await answerTo(two)) as string).match(/200 OK/g)).toHaveLength(2);
  });

  it('to a name whose address becomes a special one is refused', async () => {
    answered = ['10.1.2.3'];
    expect(await answerTo('\0x')).toBe('ECONNRESET');
    expect(accepted).toHaveLength(0);
    expect(codes()).toEqual(['special_address']);
  });

  it('is decided again when it is open, because the policy may have changed meanwhile', async () => {
    const decision = (allowed: boolean): Decision => {
      return { allowed, rule: undefined, code: allowed ? 'allowed' : 'not_allowed', reason: '', inspect: false };
    };
    let asked = 0;
    const gate = {
      decide: () => decision(asked++ === 0),
      resolve: async () => ['127.0.0.1'],
      spareDescriptor: () => undefined,
    };
    const to = { host: 'api.test', address: undefined, port: portOf(outside) };
    await expect(dial(gate, to, new AbortController().signal)).rejects.toThrow('is not allowed');
    await expect.poll(() => accepted.map((each) => each.destroyed || each.readableEnded)).toEqual([true]);
  });
});

describe('the start of a connection', () => {
  // A pattern that tries blanks in more than one way takes hours for them.
  it('is recognized in a time that grows with its length alone', async () => {
    const read = Buffer.from(`${' '.repeat(4_000_000)}\x01`);
    expect((await readFirstBytes(new Socket(), { read, milliseconds: 1000 })).protocol).toBe('other');
  });
});

describe('a request', () => {
  it('with a thousand fields is refused, and what is in its body reaches nobody', async () => {
    seen.length = 0;
    serve = (socket) => {
      socket.on('data', (chunk) => seen.push(chunk));
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Paddock-Network: refused\r\n\r\nok'),
      );
    };
    const inner = 'DELETE / HTTP/1.1\r\nHost: evil.test\r\n\r\n';
    const fields = `${host()}${'a: b\r\n'.repeat(1000)}Connection: close\r\nContent-Length: ${inner.length}\r\n`;
    const answer = await answerTo(`GET / HTTP/1.1\r\n${fields}\r\n${inner}`, false);
    // Node 24 refuses it itself.
    expect(answer).toMatch(
      /^HTTP\/1.1 (403 .*a request has less than 256 header fields|400 .*is not valid HTTP.*)\n$/s,
    );
    expect(Buffer.concat(seen).toString()).toBe('');
    // Fewer pass, without the one that is the proxy's own.
    const passed = await answerTo(
      `GET / HTTP/1.1\r\n${host()}${'a: b\r\n'.repeat(200)}Connection: close\r\n\r\n`,
      false,
    );
    expect(passed).toMatch(/^HTTP\/1.1 200 /);
    expect(passed).not.toMatch(/paddock/i);
  });

  it('has no more than one 100 Continue, however often the server says so', async () => {
    serve = (socket) => {
      socket.once('data', () => {
        socket.end(`${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
      });
    };
    const answer = await answerTo(`GET / HTTP/1.1\r\n${host()}Connection: close\r\n\r\n`, false);
    expect(answer?.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
  });

  it('cannot wait with many others that have large heads', async () => {
    serve = () => undefined;
    const socket = program();
    socket.write(`GET / HTTP/1.1\r\n${host()}X: ${'x'.repeat(30_000)}\r\n\r\n`.repeat(3));
    await expect.poll(() => socket.resume().destroyed || socket.readableEnded).toBe(true);
  });

  it('is refused for a long name, which is told nobody', async () => {
    await answerTo(`GET / HTTP/1.1\r\nHost: ${'x'.repeat(20_000)}\r\nConnection: close\r\n\r\n`, false);
    expect(JSON.stringify(network.refusals()).length).toBeLessThan(2000);
  });

  it('for a WebSocket has a large answer of a server that knows none', async () => {
    const body = 'x'.repeat(8 << 20);
    serve = (socket) => {
      socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
    };
    const socket = program();
    socket.write(`GET / HTTP/1.1\r\n${host()}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`);
    expect((await text(socket)).length).toBeGreaterThan(body.length);
  });
});
