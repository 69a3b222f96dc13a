import { afterEach, describe, expect, it } from 'vitest';
import { CODES, type Code, ServiceError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { silentLog } from '../../lib/log.ts';
import type { Services } from '../../lib/services.ts';
import { type Rest, rawRequest, restOver } from './clients.ts';
import { aCodebase, aSandbox, fakeServices } from './fake-services.ts';

let rest: Rest;
const start = async (given: Parameters<typeof fakeServices>[0] = {}, log?: Log): Promise<Services> => {
  const services = fakeServices(given);
  rest = await restOver(services, log);
  return services;
};
afterEach(() => rest.close());

describe('REST', () => {
  it.each(Object.keys(CODES) as Code[])('answers %s with its status and body', async (code) => {
    const error = new ServiceError(code, `about ${code}`, [{ a: 1 }]);
    await start({
      sandboxes: {
        get: () => {
          throw error;
        },
      },
    });
    const { status, body, headers } = await rest.json('GET', '/v1/sandboxes/sb_1');
    expect(status).toBe(CODES[code].http);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toEqual({ code: CODES[code].grpc, message: `about ${code}`, details: [{ a: 1 }] });
  });

  it('hides the message of an unexpected exception, and logs it with the request id', async () => {
    const logged: unknown[] = [];
    const error = (message: string, fields?: object) => logged.push([message, fields]);
    await start(
      {
        sandboxes: {
          get: () => {
            throw new TypeError('secret path /etc/x');
          },
        },
      },
      { ...silentLog, error },
    );
    const { status, body, headers } = await rest.json('GET', '/v1/sandboxes/sb_1');
    expect({ status, body }).toEqual({ status: 500, body: { code: 13, message: 'internal error', details: [] } });
    expect(logged).toEqual([
      [
        'call failed',
        { operation: 'GetSandbox', requestId: headers.get('x-request-id'), err: new TypeError('secret path /etc/x') },
      ],
    ]);
  });

  it('echoes a plain x-request-id and replaces another', async () => {
    await start();
    const id = async (given: string) =>
      (await fetch(`${rest.url}/health`, { headers: { 'x-request-id': given } })).headers.get('x-request-id');
    expect(await id('abc-1')).toBe('abc-1');
    expect(await id('a b')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('refuses a body that is not UTF-8', async () => {
    await start();
    const answer = await fetch(`${rest.url}/v1/codebases`, {
      method: 'POST',
      body: Buffer.from('{"name":"\xff"}', 'latin1'),
    });
    expect(await answer.json()).toMatchObject({ code: 3, message: 'the request body must be UTF-8' });
  });

  it('refuses a body above the limit, by its content length and by its actual length', async () => {
    await start();
    const length = 65 * 1024 * 1024;
    const declared = await rawRequest(
      rest.port,
      `POST /v1/codebases HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`,
    ).catch(String);
    expect(declared).toMatch(/^HTTP\/1.1 400 .*the request body must be at most 65536 bytes/s);
    const sent = await fetch(`${rest.url}/v1/codebases`, {
      method: 'POST',
      body: new Blob([Buffer.alloc(length, ' ')]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(sent.status).toBe(400);
  });

  it('reads a body of any content type', async () => {
    await start({ codebases: { create: async () => aCodebase } });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(`${rest.url}/v1/codebases`, { method: 'POST', headers, body: '{"name":"x"}' });
    expect(answer.status).toBe(200);
  });

  it('refuses a query parameter that occurs twice or is not UTF-8', async () => {
    await start();
    const refused = async (query: string) => (await rest.json('GET', `/v1/sandboxes/sb_1/stat?${query}`)).body;
    expect(await refused('path=a&as=agent&as=owner')).toMatchObject({
      code: 3,
      message: 'query parameter as must occur only once',
    });
    expect(await refused('path=%ff')).toMatchObject({ code: 3, message: 'query parameter path must be UTF-8' });
    expect(await refused('path=%EF%BF%BD')).not.toMatchObject({ code: 3 });
  });

  it('names the limit that headers exceed', async () => {
    await start();
    const answer = await rawRequest(rest.port, `GET /health HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
    expect(answer).toMatch(/HTTP\/1.1 431 .*"the request line and the headers must have at most \d+ bytes"/s);
  });

  it('answers an unknown expectation with an error, and serves the connection further', async () => {
    await start();
    const answer = await rawRequest(
      rest.port,
      'GET /health HTTP/1.1\r\nhost: localhost\r\nexpect: a miracle\r\n\r\n' +
        'GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 417 .*"code":3,"message":"the header expect must be 100-continue, or absent"/s);
    expect(answer).toMatch(/HTTP\/1.1 200 OK.*\{"status":"ok"\}$/s);
  });

  it('answers a wrong method with the methods of the path', async () => {
    await start();
    const answer = await rest.json('PUT', '/v1/sandboxes/sb_1');
    const message = 'there is no PUT /v1/sandboxes/sb_1; this path has GET, PATCH, DELETE';
    expect(answer).toMatchObject({ status: 405, body: { code: 12, message } });
    expect(answer.headers.get('allow')).toBe('GET, PATCH, DELETE');
  });

  it('passes dot segments on unchanged', async () => {
    const seen: string[] = [];
    await start({ codebases: { removeFile: async (_id, path) => void seen.push(path) } });
    const paths = ['a/../b', 'a/%2e%2e/b', '%2Fetc%2Fpasswd', './x', 'a//b', ''];
    const refused: boolean[] = [];
    for (const path of paths) {
      const answer = await rawRequest(
        rest.port,
        `DELETE /v1/codebases/cb_1/files/${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      );
      refused.push(/^HTTP\/1.1 400 /.test(answer));
    }
    expect(refused).toEqual([true, true, false, true, true, false]);
    expect(seen).toEqual(['/etc/passwd', '']);
  });

  it('accepts a target in absolute form', async () => {
    await start();
    const answer = await rawRequest(
      rest.port,
      'GET http://localhost:80/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    'garbage\r\n\r\n',
    'GET /health HTTP/9.9\r\n\r\n',
    'GET /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /v1/codebases HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x',
    'POST /v1/codebases HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    'GET /health HTTP/1.1\r\nhost : x\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  ])('answers invalid HTTP with an error body, case %#', async (bytes) => {
    await start();
    const answer = await rawRequest(rest.port, Buffer.from(bytes, 'latin1'));
    expect(answer).toMatch(
      /HTTP\/1.1 4\d\d .*\{"code":3,"message":"this is not a valid HTTP request","details":\[\]\}$/s,
    );
    expect((await rest.json('GET', '/health')).status).toBe(200);
  });

  it('refuses every request for a host that is not its own, like those of a web page after DNS rebinding', async () => {
    await start();
    const get = async (path: string, headers: string) =>
      rawRequest(rest.port, `GET ${path} HTTP/1.1\r\nconnection: close\r\n${headers}\r\n\r\n`);
    for (const path of ['/health', '/v1/codebases', '/nothing']) {
      for (const headers of ['host: evil.example', 'host: localhost\r\norigin: http://evil.example']) {
        const answer = await get(path, headers);
        expect(answer).toMatch(/^HTTP\/1.1 403 /);
        expect(answer).toContain('server.allowed_hosts');
      }
    }
    expect(await get('/health', 'host: localhost')).toMatch(/^HTTP\/1.1 200 /);
  });

  it('refuses a request target of another host than Host', async () => {
    await start();
    for (const target of ['http://evil.example/health', 'HTTP://127.0.0.2/health', 'https://evil.example']) {
      const answer = await rawRequest(
        rest.port,
        `GET ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 400 .*the request target and the Host header must name the same host/s);
    }
  });

  it('refuses a request with several Host headers, in any order and case', async () => {
    await start();
    for (const hosts of ['host: localhost\r\nHost: evil.example', 'HOST: localhost\r\nhost: localhost']) {
      const answer = await rawRequest(rest.port, `GET /health HTTP/1.1\r\nconnection: close\r\n${hosts}\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1.1 400 .*a request must have one Host header/s);
    }
  });

  it.each([
    ['POST', '/v1/codebases', '{"name":"a"}'],
    ['PATCH', '/v1/sandboxes/sb_1', '{"labels":{"a":"b"}}'],
  ])('refuses %s requests of a web page from another origin', async (method, path, body) => {
    await start({ codebases: { create: async () => aCodebase }, sandboxes: { update: async () => aSandbox } });
    const post = async (headers: Record<string, string>) => {
      const lines = Object.entries({
        host: 'localhost:8080',
        connection: 'close',
        'content-length': String(body.length),
        ...headers,
      }).map((each) => each.join(': '));
      const answer = await rawRequest(rest.port, `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
      return Number(answer.slice(9, 12));
    };
    expect(await post({ origin: 'https://evil.example' })).toBe(403);
    expect(await post({ origin: 'null' })).toBe(403);
    expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await post({ 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' })).toBe(403);
    expect(await post({ 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' })).toBe(200);
    expect(await post({ origin: 'http://localhost:8080' })).toBe(200);
    expect(await post({})).toBe(200);
  });

  it('refuses JSON that is disproportionately expensive to parse', async () => {
    await start();
    const post = (body: string) => rest.json('POST', '/v1/sandboxes', body);
    const deep = { status: 400, body: { code: 3, message: 'the request body must be nested at most 32 deep' } };
    expect(await post(`{"labels":${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}}`)).toMatchObject(deep);
    expect(await post('{"a":'.repeat(33))).toMatchObject(deep);
    const many = { status: 400, body: { code: 3, message: 'the request body must have at most 65536 values' } };
    expect(await post(`{"permissions":[${'{},'.repeat(2_000_000)}{}]}`)).toMatchObject(many);
  });
});
