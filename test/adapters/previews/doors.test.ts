import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rawRequest } from '../clients.ts';
import { SANDBOX, TOKEN, world } from './world.ts';

let at: Awaited<ReturnType<typeof world>>;
let seen: { method: string; url: string; headers: IncomingMessage['headers']; raw: string[]; body: string }[];
let answer: { status: number; headers: Record<string, string | string[]>; body: string };

beforeEach(async () => {
  seen = [];
  answer = { status: 200, headers: {}, body: 'hello' };
  at = await world(async (req, res) => {
    let body = '';
    for await (const piece of req.setEncoding('latin1')) body += piece;
    seen.push({ method: req.method!, url: req.url!, headers: req.headers, raw: req.rawHeaders, body });
    res.writeHead(answer.status, answer.headers);
    res.end(answer.body);
  });
});
afterEach(() => at.close());

describe('who may use an opened port', () => {
  it('answers callers with a key that may run commands in the sandbox, and no others', async () => {
    const status = async (headers: Record<string, string>, path = at.path) =>
      (await at.ask(`${path}/`, headers)).status;
    expect(await status(at.key('ann'))).toBe(200);
    expect(await status(at.key('agent'))).toBe(200);
    expect(await status(at.key('other'))).toBe(404);
    expect(await status(at.key('bob'))).toBe(404);
    expect(await status(at.key('reader'))).toBe(403);
    expect(await status({})).toBe(401);
    expect(await status({ authorization: `Bearer pdk_00000000_${'x'.repeat(43)}` })).toBe(401);
    expect(await status(at.key('ann'), at.path.replace(`/${at.port}/`, '/1/'))).toBe(404);
    expect(seen).toHaveLength(2);
  });

  it('answers a link token of this port only, and tells nothing else with a wrong one', async () => {
    const ask = (port: number | string, token: string, sandbox = SANDBOX) =>
      at.ask(`/v1/sandboxes/${sandbox}/ports/${port}/proxy/?paddock_token=${token}`);
    expect((await ask(at.port, TOKEN)).status).toBe(200);
    expect((await ask(at.port, `${TOKEN}x`)).status).toBe(403);
    expect((await ask(9, TOKEN)).status).toBe(403);
    const [unopened, elsewhere] = [await ask(1, TOKEN), await ask(1, TOKEN, 'sb_none')];
    expect(unopened.status).toBe(404);
    expect(unopened.text).toBe(elsewhere.text);
    expect(seen).toHaveLength(1);
  });

  it('sends a browser that opens a link on with a cookie of the port, without the token', async () => {
    const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' };
    const opened = await at.ask(`${at.path}/a/b${at.link('&c=1')}`, page);
    expect(opened.status).toBe(303);
    expect(opened.headers.location).toBe(`${at.path}/a/b?c=1`);
    expect(opened.headers['referrer-policy']).toBe('no-referrer');
    const cookie = `paddock_link=${TOKEN}`;
    expect(opened.headers['set-cookie']).toEqual([`${cookie}; Path=${at.path}/; HttpOnly; SameSite=Lax`]);
    expect(seen).toHaveLength(0);
    expect((await at.ask(`${at.path}/a/b?c=1`, { ...page, cookie: `a=1; ${cookie}` })).status).toBe(200);
    expect(JSON.stringify(seen)).not.toContain(TOKEN);
    expect((await at.ask(`${at.path}/`, { cookie: 'paddock_link=x' })).status).toBe(401);
    const byHost = await at.ask(`//evil.test/${at.link()}`, { ...page, host: at.host });
    expect(byHost.headers).toMatchObject({ location: '/evil.test/' });
    for (const path of ['/\\evil.test/', '/\\/evil.test/', '///\\evil.test/']) {
      const { headers } = await at.ask(`${path}${at.link()}`, { ...page, host: at.host });
      expect([path, headers.location]).toEqual([path, '/evil.test/']);
    }
    expect((await at.ask('/', { host: at.host, cookie: `paddock_link=x; ${cookie}` })).status).toBe(200);
  });

  it('serves nothing but the port at its host name, and the API at no other host', async () => {
    expect((await at.ask('/v1/sandboxes', { host: at.host, ...at.key('ann') })).text).toBe('hello');
    expect(seen[0]).toMatchObject({ url: '/v1/sandboxes', headers: { host: `localhost:${at.port}` } });
    expect((await at.ask('/', { host: `p1-${SANDBOX.slice(3)}.preview.test`, ...at.key('ann') })).status).toBe(404);
    for (const host of ['preview.test', 'x.preview.test', `p${at.port}-x.evil.test`, `a.${at.host}`]) {
      expect((await at.ask('/', { host, ...at.key('ann') })).status).toBe(403);
    }
    expect(
      await rawRequest(at.rest.port, `GET / HTTP/1.1\r\nHost: ${at.host}\r\nHost: x\r\nConnection: close\r\n\r\n`),
    ).toMatch(/ 400 /);
  });

  it('refuses pages of other hosts, by host name also those of other ports', async () => {
    const cookie = { cookie: `paddock_link=${TOKEN}` };
    const status = async (headers: Record<string, string>, url = `${at.path}/`, method = 'GET') =>
      (await at.ask(url, headers, { method })).status;
    expect(await status({ ...cookie, origin: 'null' })).toBe(403);
    expect(await status({ ...cookie, 'sec-fetch-site': 'cross-site' }, undefined, 'POST')).toBe(403);
    const host = { ...cookie, host: at.host };
    expect(await status({ ...host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, '/')).toBe(403);
    expect(await status({ ...host, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }, '/')).toBe(200);
    expect(await status({ ...host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, '/', 'POST')).toBe(
      403,
    );
    expect(await status({ ...host, origin: 'http://other.preview.test' }, '/')).toBe(403);
    expect(await status({ ...host, origin: `http://${at.host}`, 'sec-fetch-site': 'same-origin' }, '/')).toBe(200);
    expect(await status({ host: at.host, origin: 'http://other.test' }, `/${at.link()}`)).toBe(200);
  });

  it('needs no key without authentication', async () => {
    expect((await at.ask(`${at.path}/`, {}, { to: at.open })).status).toBe(200);
    expect((await at.ask(`${at.path}/?paddock_token=x`, {}, { to: at.open })).status).toBe(403);
  });
});

describe('what the program in the sandbox sees', () => {
  it('is the request without the keys, tokens and cookies of the service, and who asks', async () => {
    const headers = {
      ...at.key('ann'),
      cookie: `session=s; paddock_in_mine=1; paddock_link=${TOKEN}`,
      connection: 'close, x-hop',
      'x-hop': '1',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-user': 'root',
      forwarded: 'for=1.2.3.4',
      'x-real-ip': '1.2.3.4',
      te: 'trailers',
      'x-own': 'kept',
      origin: `http://127.0.0.1:${at.rest.port}`,
      host: `127.0.0.1:${at.rest.port}`,
      referer: `http://127.0.0.1:${at.rest.port}${at.path}/p?paddock_token=${TOKEN}&q=1`,
    };
    await at.ask(`${at.path}/a%2Fb/../c?x=1&paddock_token=${TOKEN}&y=%20`, headers, { method: 'POST', body: 'body' });
    expect(seen).toEqual([expect.objectContaining({ method: 'POST', url: '/a%2Fb/../c?x=1&y=%20', body: 'body' })]);
    expect(seen[0]!.headers).toEqual({
      host: `localhost:${at.port}`,
      connection: 'keep-alive',
      cookie: 'mine=1',
      'content-length': '4',
      'x-own': 'kept',
      origin: `http://localhost:${at.port}`,
      referer: `http://localhost:${at.port}/p?q=1`,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': `127.0.0.1:${at.rest.port}`,
      'x-forwarded-prefix': at.path,
    });
  });

  it.each([
    `a=1, paddock_link=${TOKEN}`,
    `a="x paddock_link=${TOKEN}"`,
    `=paddock_link=${TOKEN}`,
    `Paddock_Link=${TOKEN}`,
    `paddock_in_paddock_link=${TOKEN}`,
    TOKEN,
  ])('is no cookie with a link token: %s', async (cookie) => {
    for (const [url, host] of [
      ['/', at.host],
      [`${at.path}/`, `127.0.0.1:${at.rest.port}`],
    ] as const) {
      const headers = { host, cookie: `kept=1; paddock_in_kept=1; ${cookie}`, 'x-link': TOKEN, ...at.key('ann') };
      expect((await at.ask(url, headers)).status).toBe(200);
      expect(seen.at(-1)!.headers.cookie).toContain('kept=1');
    }
    expect(JSON.stringify(seen)).not.toContain(TOKEN);
  });

  it('by host name is its own cookies, and the credentials that are not those of the service', async () => {
    const headers = {
      host: at.host,
      cookie: `session=s; paddock_link=${TOKEN}`,
      authorization: 'Basic eDp5',
      'x-api-key': 'own',
    };
    expect((await at.ask('/', headers)).status).toBe(200);
    expect(seen[0]!.headers).toMatchObject({ cookie: 'session=s', authorization: 'Basic eDp5', 'x-api-key': 'own' });
    expect(seen[0]!.headers).not.toHaveProperty('x-forwarded-prefix');
  });

  it('is one request for each that the server has read', async () => {
    const request = `POST ${at.path}/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: ${at.key('ann').authorization.slice(7)}\r\n`;
    const smuggled = 'GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const both = `${request}Content-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`;
    expect(await rawRequest(at.rest.port, both)).toMatch(/^HTTP\/1.1 400 /);
    const hidden = `${request}Connection: close, Content-Length\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
    expect(await rawRequest(at.rest.port, hidden)).toMatch(/^HTTP\/1.1 200 /);
    const chunked = `${request}Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`;
    expect(await rawRequest(at.rest.port, chunked)).toMatch(/^HTTP\/1.1 200 /);
    expect(seen.map(({ url, body }) => [url, body])).toEqual([
      ['/1', smuggled],
      ['/1', 'abc'],
    ]);
  });
});

describe('what the client sees', () => {
  it('by path has cookies and redirects of this port only, and no script in the origin of the service', async () => {
    answer.headers = {
      'set-cookie': [
        'a=1; Path=/x; Domain=localhost; HttpOnly',
        'paddock_link=evil; Path=/',
        '=paddock_link=evil',
        'b=2',
      ],
      location: `http://localhost:${at.port}/login?x`,
      'content-security-policy': "default-src 'self'",
      'clear-site-data': '"cookies"',
      'strict-transport-security': 'max-age=1',
      'alt-svc': 'h3=":1"',
      'service-worker-allowed': '/',
      'cache-control': 'public, max-age=5',
      connection: 'close, x-hop',
      'x-hop': '1',
    };
    answer.status = 302;
    const { status, headers, text } = await at.ask(`${at.path}/`, at.key('ann'));
    expect([status, text]).toEqual([302, 'hello']);
    expect(headers['set-cookie']).toEqual([
      `paddock_in_a=1; Path=${at.path}/x; HttpOnly`,
      `paddock_in_b=2; Path=${at.path}/`,
    ]);
    expect(headers.location).toBe(`${at.path}/login?x`);
    expect(headers['content-security-policy']).toMatch(/^default-src 'self', sandbox (?!.*allow-same-origin)/);
    expect(headers['cache-control']).toBe('max-age=5, private');
    for (const name of ['clear-site-data', 'strict-transport-security', 'alt-svc', 'service-worker-allowed', 'x-hop']) {
      expect(headers).not.toHaveProperty(name);
    }
  });

  it.each([
    ['/\\evil.test/', '/evil.test/'],
    ['/\t/evil.test', '/evil.test'],
    ['\\\\evil.test', '/evil.test'],
    ['http://localhost:PORT/\\evil.test', '/evil.test'],
    ['http://localhost:PORT//evil.test', '/evil.test'],
    ['http://localhost:PORT/\t/\\evil.test', '/evil.test'],
    ['/a//b\\c', '/a//b\\c'],
    ['//other.test/', undefined],
  ])('is redirected by %j to a path of this port', async (location, expected) => {
    const sent = location.replace('PORT', String(at.port));
    for (const [url, headers, prefix] of [
      ['/', { host: at.host }, ''],
      [`${at.path}/`, {}, at.path],
    ] as const) {
      answer.status = 302;
      answer.headers = { location: sent };
      const { headers: got } = await at.ask(url, { ...headers, ...at.key('ann') });
      expect(got.location).toBe(expected === undefined ? location : `${prefix}${expected}`);
    }
  });

  it('by path is no prompt for a password in the origin of the service', async () => {
    answer.status = 401;
    answer.headers = { 'www-authenticate': 'Basic realm="service"' };
    const byPath = await at.ask(`${at.path}/`, at.key('ann'));
    expect([byPath.status, byPath.headers['www-authenticate']]).toEqual([401, undefined]);
    answer.status = 401;
    answer.headers = { 'www-authenticate': 'Basic realm="own"' };
    const byHost = await at.ask('/', { host: at.host, ...at.key('ann') });
    expect([byHost.status, byHost.headers['www-authenticate']]).toEqual([401, 'Basic realm="own"']);
  });

  it('by host name has cookies of that host', async () => {
    answer.headers = {
      'set-cookie': ['a=1; Domain=preview.test; Path=/x', '__Host-paddock_link=evil'],
      location: '/y',
    };
    const { headers } = await at.ask('/', { host: at.host, ...at.key('ann') });
    expect(headers['set-cookie']).toEqual(['a=1; Path=/x']);
    expect(headers.location).toBe('/y');
    expect(headers).not.toHaveProperty('content-security-policy');
  });

  it('is an error in JSON, or a page for a browser, if nothing listens', async () => {
    const url = at.path.replace(`/${at.port}/`, '/9/');
    const json = await at.ask(`${url}/`, at.key('ann'));
    expect(json.status).toBe(502);
    expect(JSON.parse(json.text).message).toBe('nothing listens on port 9 in this sandbox');
    const page = await at.ask(`${url}/`, { ...at.key('ann'), accept: 'text/html' });
    expect(page.status).toBe(502);
    expect(page.text).toContain('<p>nothing listens on port 9 in this sandbox</p>');
    expect(page.headers['content-security-policy']).toContain('sandbox');
  });

  it('is sent to the directory of the port if the slash is missing', async () => {
    const { status, headers } = await at.ask(`${at.path}?a=1`, at.key('ann'));
    expect([status, headers.location]).toEqual([307, `${at.path}/?a=1`]);
  });

  it('has the whole body of HEAD, 204 and 304, which is none', async () => {
    answer.headers = { 'content-length': '5' };
    expect(await at.ask(`${at.path}/`, at.key('ann'), { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
    answer = { status: 304, headers: { etag: '"a"' }, body: '' };
    expect(await at.ask(`${at.path}/`, at.key('ann'))).toMatchObject({ status: 304, headers: { etag: '"a"' } });
  });
});

it('counts a request as use of the sandbox and of the port until it was answered', async () => {
  let finish: (() => void) | undefined;
  at.inside.removeAllListeners('request');
  at.inside.on('request', (_, res) => {
    res.write('a');
    finish = () => res.end('b');
  });
  const asked = at.ask(`${at.path}/`, at.key('ann'));
  await vi.waitFor(() => expect(finish).toBeDefined(), { timeout: 30_000 });
  expect([at.uses(), at.cuts.size]).toEqual([1, 1]);
  finish!();
  expect((await asked).text).toBe('ab');
  await vi.waitFor(() => expect([at.uses(), at.cuts.size]).toEqual([0, 0]), { timeout: 30_000 });
});
