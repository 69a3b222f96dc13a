import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { World } from './world.ts';

const VALUE = 'the+real/value=of "it"';
const PLACEHOLDER = 'pdk_secret_token_0123456789abcdef';
const secret = {
  name: 'token',
  placeholder: PLACEHOLDER,
  value: VALUE,
  hosts: ['api.example'],
  in: ['header'] as const,
};
const everywhere = { ...secret, in: ['header', 'query', 'body'] as const };
const foreign = { ...secret, hosts: ['other.example'] };

let world: World;
beforeEach(async () => {
  world = await World.create();
  world.secrets = [{ ...secret, in: ['header'] }];
});
afterEach(() => world.close());

describe('requests', () => {
  it('get the value in headers, also in those of basic authentication', async () => {
    const basic = `Basic ${Buffer.from(`user:${PLACEHOLDER}`).toString('base64')}`;
    for (const authorization of [`Bearer ${PLACEHOLDER}`, basic]) {
      expect(await world.request('/a', { headers: { authorization, 'x-key': PLACEHOLDER } })).toMatchObject({
        status: 200,
      });
    }
    expect(world.seen[0]!.headers).toMatchObject({ authorization: `Bearer ${VALUE}`, 'x-key': VALUE });
    expect(world.seen[1]!.headers.authorization).toBe(`Basic ${Buffer.from(`user:${VALUE}`).toString('base64')}`);
    expect(world.refusals).toEqual([]);
  });

  it('arrive otherwise as they were sent: method, path, order and case of headers, body', async () => {
    const headers = { 'X-Odd-Case': 'a', cookie: 'b=c', 'content-type': 'application/octet-stream' };
    await world.request('/a/../b?c=%2F', { method: 'PATCH', headers, body: 'd'.repeat(100_000) });
    expect(world.seen).toMatchObject([{ method: 'PATCH', url: '/a/../b?c=%2F', body: 'd'.repeat(100_000) }]);
    expect(world.seen[0]!.rawHeaders).toContain('X-Odd-Case');
  });

  it('get no value in a part that the secret is not for', async () => {
    await world.request(`/a?key=${PLACEHOLDER}`, { method: 'POST', body: PLACEHOLDER });
    expect(world.seen).toMatchObject([{ url: `/a?key=${PLACEHOLDER}`, body: PLACEHOLDER }]);
  });

  it.each([
    ['text/plain', VALUE],
    ['application/json; charset=utf-8', JSON.stringify(VALUE).slice(1, -1)],
    ['application/x-www-form-urlencoded', encodeURIComponent(VALUE)],
  ])('get the value in the query and in a body of %s, in its encoding', async (type, expected) => {
    world.secrets = [{ ...everywhere, in: [...everywhere.in] }];
    const headers = { 'content-type': type, 'content-length': 4 + PLACEHOLDER.length };
    await world.request(`/a?key=${PLACEHOLDER}&b`, { method: 'POST', headers, body: `a=${PLACEHOLDER}\r\n` });
    expect(world.seen).toMatchObject([{ url: `/a?key=${encodeURIComponent(VALUE)}&b`, body: `a=${expected}\r\n` }]);
    expect(world.seen[0]!.headers['content-length']).toBe(String(4 + Buffer.byteLength(expected)));
  });

  it('get the value in a chunked body, wherever the placeholder is split', async () => {
    world.secrets = [{ ...everywhere, in: [...everywhere.in] }];
    for (let at = 1; at < PLACEHOLDER.length; at += 8) {
      const body = [`x${PLACEHOLDER.slice(0, at)}`, `${PLACEHOLDER.slice(at)}y`].map((each) => Buffer.from(each));
      await world.request('/', { method: 'POST', headers: { 'transfer-encoding': 'chunked' }, body });
      expect(world.seen.at(-1)!.body).toBe(`x${VALUE}y`);
    }
  });

  it('get the new value after a rotation, on the same connection', async () => {
    const socket = world.tls();
    const ask = () => socket.write(`GET / HTTP/1.1\r\nHost: api.example\r\nX-Key: ${PLACEHOLDER}\r\n\r\n`);
    ask();
    await once(socket, 'data');
    world.secrets = [{ ...secret, in: ['header'], value: 'another value' }];
    ask();
    await once(socket, 'data');
    socket.destroy();
    expect(world.seen.map(({ headers }) => headers['x-key'])).toEqual([VALUE, 'another value']);
    expect(world.dials).toBe(1);
  });
});

describe('a placeholder of a secret for other hosts is refused and recorded', () => {
  beforeEach(() => {
    world.secrets = [{ ...foreign, in: ['header'] }];
  });

  it.each([
    ['a header', '/', { headers: { authorization: `Bearer ${PLACEHOLDER}` } }],
    ['the name of a header', '/', { headers: { [PLACEHOLDER]: 'a' } }],
    ['basic authentication', '/', { headers: { authorization: `Basic ${btoa(`a:${PLACEHOLDER}`)}` } }],
    ['the query', `/?a=${PLACEHOLDER}`, {}],
    ['the path', `/bot${PLACEHOLDER}/send`, {}],
  ])('in %s', async (_, path, options) => {
    expect(await world.request(path, options)).toMatchObject({
      status: 403,
      body: expect.stringMatching(/^paddock: the placeholder of the secret "token" was sent to api.example, /),
      headers: { 'x-paddock-network': 'refused; code=secret_elsewhere' },
    });
    expect([world.seen, world.refusals]).toEqual([[], ['secret_elsewhere api.example']]);
  });

  it('in a body, of which nothing after its beginning arrives', async () => {
    const body = [Buffer.from(`a ${PLACEHOLDER.slice(0, 9)}`), Buffer.from(`${PLACEHOLDER.slice(9)} b`)];
    const answer = await world.request('/', { method: 'POST', body });
    expect(answer).toMatchObject({ status: 403, headers: { 'x-paddock-network': 'refused; code=secret_elsewhere' } });
    expect(world.refusals).toEqual(['secret_elsewhere api.example']);
    for (const { body: arrived } of world.seen) expect(arrived).not.toContain('pdk_');
  });

  it('in a body that goes on, the answer arrives all the same', async () => {
    const socket = world.tls();
    const head = 'POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 1000000\r\n\r\n';
    socket.write(`${head}${'x'.repeat(70_000)}${PLACEHOLDER}`);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text).toMatch(/^HTTP\/1.1 403 .*secret_elsewhere/s);
  });

  it('and only hosts of secrets, and of rules, need inspection', () => {
    expect([world.needed('api.example'), world.needed('other.example')]).toEqual([false, true]);
  });
});

describe('a request is refused', () => {
  it.each([
    ['to another host', 'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n', 421],
    ['with two hosts', 'GET / HTTP/1.1\r\nHost: api.example\r\nHost: evil.example\r\n\r\n', 421],
    ['to another port', 'GET / HTTP/1.1\r\nHost: api.example:8443\r\n\r\n', 421],
    ['to a whole URL', 'GET https://evil.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n', 400],
    ['without a host', 'GET / HTTP/1.1\r\n\r\n', 400],
    [
      'with two lengths',
      'POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\naa',
      400,
    ],
    [
      'with a length and chunks',
      'POST / HTTP/1.1\r\nHost: api.example\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['with a line end in a header', 'GET / HTTP/1.1\r\nHost: api.example\r\nA: b\rc\r\n\r\n', 400],
    ['of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ])('%s', async (_, bytes, status) => {
    expect(await world.raw(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(world.seen).toEqual([]);
  });

  it('if it comes after another one in the same packet', async () => {
    const good = `GET /1 HTTP/1.1\r\nHost: api.example\r\nX-Key: ${PLACEHOLDER}\r\n\r\n`;
    const answers = await world.raw(good + good.replace('api.example', 'evil.example'));
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 421']);
    expect(world.seen).toHaveLength(1);
  });

  it('if the policy does not allow its method and path, also in other spellings', async () => {
    world.decision = ({ method, path }) => ({
      allowed: method === 'GET' && path!.startsWith('/public/'),
      code: 'not_allowed',
      reason: 'no rule allows it',
    });
    expect(await world.request('/public/a?b')).toMatchObject({ status: 200 });
    const refused = [
      '/private',
      '/public/../private',
      '/public/%2e%2e/private',
      '/public/..%2fprivate',
      '/public\\..\\..\\a',
    ];
    for (const path of refused) {
      expect(await world.request(path)).toMatchObject({ status: 403, body: 'paddock: no rule allows it\n' });
    }
    expect(await world.request('/public/a', { method: 'POST' })).toMatchObject({ status: 403 });
    expect(world.seen).toHaveLength(1);
  });
});

describe('TLS', () => {
  it('is refused for another name, without a name, and for HTTP/2 alone', async () => {
    const attempts = [{ servername: 'evil.example' }, { servername: '' }, { ALPNProtocols: ['h2'] }];
    for (const options of attempts) {
      const socket = world.tls({ ...options, rejectUnauthorized: false });
      socket.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n');
      await new Promise((resolve) => socket.once('close', resolve));
    }
    const socket = world.tls({ ALPNProtocols: ['h2', 'http/1.1'] });
    await once(socket, 'secureConnect');
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    expect([world.seen, world.dials]).toEqual([[], 0]);
  });

  it('ends with the connection from inside, and with that of the server', async () => {
    world.answer = () => undefined;
    const socket = world.tls();
    socket.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n');
    const [server] = await once(world.server, 'secureConnection');
    await once(world.server, 'request');
    socket.destroy();
    await once(server, 'close');
    const other = world.tls();
    other.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n');
    const [second] = await once(world.server, 'secureConnection');
    await once(world.server, 'request');
    second.destroy();
    await once(other, 'close');
  });

  it('to a server that is not reached, or does not begin TLS, ends with the connection from inside', async () => {
    const request = 'GET / HTTP/1.1\r\nHost: api.example\r\n\r\n';
    const dialling = new Promise<AbortSignal>((resolve) => {
      world.dial = (signal) => {
        resolve(signal);
        return new Promise(() => undefined);
      };
    });
    const first = world.tls();
    first.write(request);
    const signal = await dialling;
    first.destroy();
    if (!signal.aborted) await once(signal, 'abort');
    const silent = createServer().listen(0, '127.0.0.1');
    world.dial = async () => connect((silent.address() as AddressInfo).port, '127.0.0.1');
    const second = world.tls();
    second.write(request);
    const [outside] = (await once(silent, 'connection')) as [Socket];
    outside.on('error', () => undefined).resume();
    second.destroy();
    await new Promise((resolve) => outside.once('close', resolve));
    silent.close();
  });

  it.each([
    ['of an unknown authority', { trustServer: false }, /api.example failed: (SELF_SIGNED|UNABLE)/],
    ['for another name', { name: 'evil.example' }, /api.example failed: ERR_TLS_CERT_ALTNAME_INVALID/],
  ])('to a server with a certificate %s fails, and the value is not sent', async (_, options, message) => {
    const other = await World.create(options);
    other.secrets = [{ ...secret, in: ['header'] }];
    const answer = await other.request('/', { headers: { 'x-key': PLACEHOLDER } });
    expect(answer).toMatchObject({ status: 502, headers: { 'x-paddock-network': 'failed; code=unreachable' } });
    expect(answer.body).toMatch(message);
    expect(other.seen).toEqual([]);
    await other.close();
  });

  it('to a server that is not there fails with a sentence', async () => {
    world.serverPort = 1;
    const answer = await world.request('/');
    expect(answer).toMatchObject({ status: 502, body: 'paddock: api.example:443 cannot be reached: ECONNREFUSED\n' });
  });
});

describe('answers', () => {
  it('of a server that reflects the value have the placeholder, in headers, the reason and the body', async () => {
    world.secrets = [{ ...secret, in: ['header'], value: 'a-plain-value' }];
    world.answer = (request, response) => {
      response.writeHead(200, `got ${request.headers['x-key']}`, { 'x-back': String(request.headers['x-key']) });
      response.write(`1 ${String(request.headers['x-key']).slice(0, 5)}`);
      setImmediate(() => response.end(`${String(request.headers['x-key']).slice(5)} 2`));
    };
    const answer = await world.request('/', { headers: { 'x-key': PLACEHOLDER } });
    expect(answer).toMatchObject({ headers: { 'x-back': PLACEHOLDER }, body: `1 ${PLACEHOLDER} 2` });
    world.answer = (_, response) => response.setHeader('x-a-plain-value', '1').end();
    expect((await world.request('/')).headers).toHaveProperty(`x-${PLACEHOLDER}`);
    world.answer = (_, response) => response.setHeader('content-length', 15).end('a-plain-value!!');
    expect(await world.request('/')).toMatchObject({
      headers: { 'content-length': String(PLACEHOLDER.length + 2) },
      body: `${PLACEHOLDER}!!`,
    });
    world.answer = (_, response) => response.setHeader('content-encoding', 'gzip').end('a-plain-value!!');
    expect(await world.request('/')).toMatchObject({ body: `${PLACEHOLDER}!!` });
    expect(await world.request('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    // Compressed, it would not be found.
    expect(world.seen[0]!.headers).not.toHaveProperty('accept-encoding');
  });

  it('that lead elsewhere are passed on without the value, which the next request does not get there', async () => {
    world.answer = (request, response) =>
      response.writeHead(302, { location: `https://evil.example/?${request.headers['x-key']}` }).end();
    world.secrets = [{ ...secret, in: ['header'], value: 'a-plain-value' }];
    const answer = await world.request('/', { headers: { 'x-key': PLACEHOLDER } });
    expect(answer.headers.location).toBe(`https://evil.example/?${PLACEHOLDER}`);
  });

  it('arrive whole if the server closes its connection before the program has read them', async () => {
    const body = 'x'.repeat(4_000_000);
    world.answer = (_, response) => response.setHeader('connection', 'close').end(body);
    const socket = world.tls();
    socket.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n');
    await once(socket, 'readable');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text.match(/x/g)).toHaveLength(body.length);
  });

  it('arrive in pieces as the server sends them', async () => {
    world.answer = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    const socket = world.tls();
    socket.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n');
    let text = '';
    while (!text.includes('data: 1')) text += String((await once(socket, 'data'))[0]);
    socket.destroy();
  });

  it('to several requests on one connection come in order, over one connection to the server', async () => {
    world.answer = (request, response) => {
      const slow = request.url === '/1';
      if (slow) setTimeout(() => response.end('one'), 30);
      else response.end('two');
    };
    const ask = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: api.example\r\n${more}\r\n`;
    const answers = await world.raw(ask('/1') + ask('/2', 'Connection: close\r\n'));
    expect(answers.indexOf('one')).toBeGreaterThan(0);
    expect(answers.indexOf('two')).toBeGreaterThan(answers.indexOf('one'));
    expect(world.dials).toBe(1);
  });
});

describe('a connection', () => {
  it('is closed if more requests wait on it than programs send', async () => {
    world.answer = () => undefined;
    const socket = world.tls().resume();
    socket.write('GET / HTTP/1.1\r\nHost: api.example\r\n\r\n'.repeat(100));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(world.seen.length).toBeLessThan(2);
  });
});

describe('WebSockets', () => {
  const hello = `GET /ws HTTP/1.1\r\nHost: api.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Key: ${PLACEHOLDER}\r\n\r\n`;

  it('are opened with the value, and then pass both ways', async () => {
    let key: unknown;
    world.server.on('upgrade', (request, socket) => {
      key = request.headers['x-key'];
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst');
      socket.pipe(socket);
    });
    const socket = world.tls();
    socket.write(hello);
    let text = '';
    while (!text.endsWith('first')) text += String((await once(socket, 'data'))[0]);
    expect(text).toMatch(/^HTTP\/1.1 101 /);
    socket.write('echo');
    expect(String((await once(socket, 'data'))[0])).toBe('echo');
    socket.destroy();
    expect(key).toBe(VALUE);
  });

  it('end when nothing is sent for long', async () => {
    await world.close();
    world = await World.create({ idleMs: 50 });
    world.server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    });
    expect(await world.raw(hello)).toMatch(/^HTTP\/1.1 101 /);
  });

  it('that a server does not know have no value in its answer', async () => {
    world.secrets = [{ ...secret, in: ['header'], value: 'a-plain-value' }];
    world.answer = (request, response) => response.end(`got ${request.headers['x-key']}`);
    expect(await world.raw(hello)).toMatch(new RegExp(`\r\n\r\ngot ${PLACEHOLDER}$`));
    expect(world.seen[0]!.headers['x-key']).toBe('a-plain-value');
  });

  it('are refused like other requests, by the proxy and by the server', async () => {
    expect(await world.raw(hello.replace('websocket', 'h2c'))).toMatch(/^HTTP\/1.1 501 /);
    expect(await world.raw(hello.replace('Host: api.example', 'Host: evil.example'))).toMatch(/^HTTP\/1.1 421 /);
    world.secrets = [{ ...foreign, in: ['header'] }];
    expect(await world.raw(hello)).toMatch(/^HTTP\/1.1 403 .*secret_elsewhere/s);
    world.secrets = [];
    world.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno'));
    expect(await world.raw(hello)).toMatch(/^HTTP\/1.1 401 No.*\r\n\r\nno$/s);
  });
});
