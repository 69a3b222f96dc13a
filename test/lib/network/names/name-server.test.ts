import { createSocket, type Socket } from 'node:dgram';
import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeAddresses } from '../../../../lib/network/names/fake-addresses.ts';
import { NameServer } from '../../../../lib/network/names/name-server.ts';
import { OutsideResolution } from '../../../../lib/network/names/resolution.ts';

const OUTSIDE: Record<string, string[]> = { 'api.test': ['93.184.216.34'], 'new.api.test': ['93.184.216.35'] };
const ALLOWED = new Set(['api.test', 'new.api.test', 'gone.test', 'broken.test']);
let asked: string[];
let udp: Socket;
let tcp: Server;
let resolver: dns.Resolver;

beforeEach(async () => {
  asked = [];
  const names = new NameServer({
    fakes: new FakeAddresses(),
    allows: (name) => ALLOWED.has(name),
    resolve: async (name) => {
      asked.push(name);
      if (name === 'broken.test') throw new Error('no resolver answers');
      return OUTSIDE[name];
    },
  });
  udp = createSocket('udp4');
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  names.serve(udp);
  tcp = createServer((socket) => names.serveStream(socket)).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  resolver = new dns.Resolver({ timeout: 5000, tries: 1 });
  resolver.setServers([`127.0.0.1:${udp.address().port}`]);
});
afterEach(() => {
  udp.close();
  tcp.close();
});

/** A query in wire format. */
function query(name: string, { type = 1, flags = 0x0100, edns = false } = {}): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.of(label.length), Buffer.from(label, 'latin1')]);
  const head = Buffer.from([0x12, 0x34, flags >> 8, flags & 255, 0, 1, 0, 0, 0, 0, 0, edns ? 1 : 0]);
  const opt = edns ? Buffer.from([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]) : Buffer.alloc(0);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, 1]), opt]);
}

/** The answer over UDP. */
async function ask(message: Buffer): Promise<Buffer> {
  const client = createSocket('udp4');
  try {
    client.send(message, udp.address().port, '127.0.0.1');
    const [reply] = await once(client, 'message');
    return reply as Buffer;
  } finally {
    client.close();
  }
}

const codeOf = (reply: Buffer) => reply[3]! & 15;

describe('names of a sandbox', () => {
  it('gives each allowed name an address of its own, and its name back', async () => {
    const [first] = await resolver.resolve4('api.test');
    const [second] = await resolver.resolve4('new.api.test');
    expect(first).toMatch(/^198\.18\./);
    expect(second).not.toBe(first);
    expect(await resolver.resolve4('API.test')).toEqual([first]);
    expect(await resolver.reverse(first!)).toEqual(['api.test']);
    await expect(resolver.reverse('198.18.9.9')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('asks nothing outside for a name that is not allowed', async () => {
    for (const name of ['secret.evil.test', 'api.test.evil.test', 'localhost', 'test']) {
      await expect(resolver.resolve4(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    }
    await expect(resolver.resolveTxt('secret.evil.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(asked).toEqual([]);
  });

  it('has no other record of an allowed name, and tells absent from broken', async () => {
    await expect(resolver.resolve6('api.test')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolver.resolveTxt('api.test')).rejects.toMatchObject({ code: 'ENODATA' });
    // HTTPS and SVCB.
    for (const type of [65, 64])
      expect([...(await ask(query('api.test', { type }))).subarray(2, 8)]).toEqual([0x81, 0x80, 0, 1, 0, 0]);
    expect(asked).toEqual([]);
    await expect(resolver.resolve4('gone.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(resolver.resolve4('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('repeats the case of the question, and answers EDNS', async () => {
    const message = query('aPi.TeSt', { edns: true });
    const reply = await ask(message);
    expect(reply.subarray(12, 26)).toEqual(message.subarray(12, 26));
    expect(reply.readUInt16BE(10)).toBe(1);
    expect(asked).toEqual(['api.test']);
  });

  it('takes no label with a dot or a zero in it for a name', async () => {
    const dotted = Buffer.concat([query('x').subarray(0, 12), Buffer.from('\x08api.test\0\0\x01\0\x01', 'latin1')]);
    expect(codeOf(await ask(dotted))).toBe(3);
    expect(codeOf(await ask(query('api\0.test')))).toBe(3);
    expect(codeOf(await ask(query('\xe1pi.test')))).toBe(3);
    expect(asked).toEqual([]);
  });

  it('answers garbage with an error, follows no pointer, and answers no answer', async () => {
    const head = query('x').subarray(0, 12);
    const pointer = Buffer.concat([head, Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
    expect(codeOf(await ask(pointer))).toBe(1);
    const cut = query('api.test');
    expect(codeOf(await ask(cut.subarray(0, cut.length - 3)))).toBe(1);
    expect(codeOf(await ask(query('a'.repeat(63).concat('.').repeat(4).concat('test'))))).toBe(1);
    const two = query('api.test');
    two[5] = 2;
    expect(codeOf(await ask(two))).toBe(1);
    expect(codeOf(await ask(query('api.test', { flags: 0x2800 })))).toBe(4);
    const client = createSocket('udp4');
    const replies: number[] = [];
    client.on('message', (reply) => replies.push(reply[3]! & 15));
    for (const message of [
      query('api.test', { flags: 0x8100 }),
      Buffer.alloc(5),
      Buffer.alloc(4000, 1),
      query('no.test'),
    ]) {
      client.send(message, udp.address().port, '127.0.0.1');
    }
    await expect.poll(() => replies).toEqual([3]);
    client.close();
  });

  it('answers several queries of a TCP connection, in any pieces, and ends it for one that is too long', async () => {
    const framed = (message: Buffer) => Buffer.concat([Buffer.of(message.length >> 8, message.length & 255), message]);
    const client = dial((tcp.address() as AddressInfo).port, '127.0.0.1');
    const bytes = Buffer.concat([framed(query('no.test')), framed(query('api.test'))]);
    for (const byte of bytes) client.write(Buffer.of(byte));
    client.write(Buffer.of(0xff, 0xff));
    const all = await buffer(client);
    const first = all.subarray(2, 2 + all.readUInt16BE(0));
    const second = all.subarray(4 + first.length);
    expect([codeOf(first), codeOf(second)]).toEqual([3, 0]);
    expect(second.subarray(-4, -2)).toEqual(Buffer.of(198, 18));
  });
});

describe('addresses of names', () => {
  it('reuses the place that was not used for longest and has no connection, with a new address', () => {
    const fakes = new FakeAddresses(3);
    const [a, b] = [fakes.take('a')!, fakes.take('b')!];
    fakes.take('c');
    const release = fakes.hold(a);
    const d = fakes.take('d')!;
    expect([fakes.nameOf(a), fakes.nameOf(b), fakes.nameOf(d)]).toEqual(['a', undefined, 'd']);
    expect(d).not.toBe(b);
    const held = [fakes.hold(fakes.take('c')!), fakes.hold(d)];
    expect(fakes.take('e')).toBeUndefined();
    release();
    expect(fakes.take('e')).toBeDefined();
    expect(fakes.nameOf(a)).toBeUndefined();
    for (const each of held) each();
  });
});

describe('resolution outside', () => {
  it('asks once for a name, keeps the answer, and bounds the lookups of one sandbox', async () => {
    const queries: string[] = [];
    const fakes = new FakeAddresses();
    const outside = new NameServer({
      fakes,
      allows: (name) => !name.startsWith('gone'),
      resolve: async (name) => {
        queries.push(name);
        return name.startsWith('slow') ? await new Promise<never>(() => undefined) : ['x'];
      },
    });
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    outside.serve(socket);
    const resolution = new OutsideResolution([`127.0.0.1:${socket.address().port}`]);
    const both = await Promise.all([resolution.resolve('one.test', 'a'), resolution.resolve('one.test', 'b')]);
    expect(both[0]).toEqual([fakes.take('one.test')]);
    expect(await resolution.resolve('one.test', 'a')).toEqual(both[0]);
    expect(queries).toEqual(['one.test']);
    expect(await resolution.resolve('gone.test', 'a')).toBeUndefined();
    const slow = Array.from({ length: 32 }, (_, at) => resolution.resolve(`slow${at}.test`, 'a'));
    for (const each of slow) each.catch(() => undefined);
    await expect(resolution.resolve('more.test', 'a')).rejects.toThrow('too many lookups');
    expect(await resolution.resolve('more.test', 'b')).toHaveLength(1);
    socket.close();
  });
});
