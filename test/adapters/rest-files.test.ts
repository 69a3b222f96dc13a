import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../lib/errors.ts';
import type { Codebases } from '../../lib/services.ts';
import { type Rest, rawRequest, restOver, until } from './clients.ts';
import { fakeServices, MemoryCodebases, sha256 } from './fake-services.ts';

const FILES = '/v1/codebases/cb_1/files';
const MIB = 1024 * 1024;
let memory: MemoryCodebases;
let overrides: Partial<Codebases>;
let rest: Rest;

beforeEach(async () => {
  memory = new MemoryCodebases();
  overrides = {};
  const given = fakeServices({ codebases: memory.services });
  rest = await restOver({
    ...given,
    codebases: new Proxy(given.codebases, {
      get: (target, name: keyof Codebases) => overrides[name] ?? target[name],
    }),
  });
});
afterEach(() => rest.close());

const put = (path: string, body: string | Buffer | ReadableStream, query = '') =>
  fetch(`${rest.url}${FILES}/${path}${query}`, { method: 'PUT', body, duplex: 'half' } as RequestInit);
const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${rest.url}${FILES}/${path}`, { method, headers });

/** Returns the text of a form; each part is [parameters of content-disposition, content]. */
function form(...parts: [string, string | Buffer][]): { headers: Record<string, string>; body: Buffer } {
  const chunks = parts.flatMap(([disposition, content]) => [
    `--XX\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`,
    content,
    '\r\n',
  ]);
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=XX' },
    body: Buffer.concat([...chunks, '--XX--\r\n'].map((chunk) => Buffer.from(chunk))),
  };
}

async function postForm(...parts: [string, string | Buffer][]) {
  const answer = await fetch(rest.url + FILES, { method: 'POST', ...form(...parts) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const stored = (text: string | Buffer) => ({ size: text.length, checksum: sha256(Buffer.from(text)) });
const names = () => [...memory.files.keys()];

describe('a raw upload', () => {
  it('stores a JSON body as bytes', async () => {
    const headers = { 'content-type': 'application/json' };
    await fetch(`${rest.url}${FILES}/a.json`, { method: 'PUT', body: '{bad', headers });
    expect(memory.files.get('cb_1/a.json')?.toString()).toBe('{bad');
  });

  it('reads mode as octal', async () => {
    await put('run.sh', '#!', '?mode=0755');
    expect(memory.modes.get('cb_1/run.sh')).toBe(0o755);
    for (const mode of ['755x', '0999', '4755', '-1', ''])
      expect((await put('x', 'x', `?mode=${mode}`)).status).toBe(400);
  });

  it('stores nothing of a chunked body that ends in the middle', async () => {
    const answer = rawRequest(
      rest.port,
      `PUT ${FILES}/cut HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n`,
    );
    await answer;
    expect(names()).toEqual([]);
  });

  it('does not delay the next request on its connection if it is refused', async () => {
    overrides.upload = async (_id, _path, content) => {
      for await (const _ of content) throw new ServiceError('RESOURCE_EXHAUSTED', 'no room');
      throw new Error('the body is empty');
    };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (method: string, path: string, body?: Buffer) =>
      new Promise<number | undefined>((done, failed) => {
        const outgoing = request({ host: '127.0.0.1', port: rest.port, agent, method, path }, (answer) => {
          answer.resume().once('end', () => done(answer.statusCode));
        });
        outgoing.once('error', failed).end(body);
      });
    const refused = send('PUT', `${FILES}/large`, Buffer.alloc(2 * MIB));
    const next = send('GET', '/health');
    expect([await refused, await next]).toEqual([429, 200]);
    agent.destroy();
  });

  it('sends a refusal while the body is still being sent', async () => {
    overrides.upload = async (_id, _path, content) => {
      for await (const _ of content) throw new ServiceError('RESOURCE_EXHAUSTED', 'the disk is full');
      return stored('');
    };
    const answer = await put('big', Buffer.alloc(32 * MIB));
    expect(answer.status).toBe(429);
    expect((await rest.json('GET', '/health')).status).toBe(200);
  });

  it('is read no faster than it is stored', async () => {
    let taken = 0;
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    overrides.upload = async (_id, _path, content) => {
      for await (const chunk of content) {
        taken += chunk.length;
        await gate;
      }
      return stored('');
    };
    let sent = 0;
    const source = new ReadableStream({
      pull(controller) {
        if (sent >= 128 * MIB) return controller.close();
        sent += MIB;
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    const answer = put('slow', source);
    await until(() => taken > 0);
    let before = -1;
    for (; before !== sent; await new Promise((resolve) => setTimeout(resolve, 100))) before = sent;
    expect(sent).toBeLessThan(64 * MIB);
    go();
    expect((await answer).status).toBe(200);
    expect(taken).toBe(128 * MIB);
  });
});

async function* repeat(chunk: Buffer, times: number) {
  for (let i = 0; i < times; i++) yield chunk;
}

describe('a multipart upload', () => {
  it('also takes the path from the last field of the form', async () => {
    const answer = await postForm(['name="file"; filename="y.py"', 'print()'], ['name="path"', 'src/x.py']);
    expect(answer).toEqual({ status: 200, body: stored('print()') });
    expect(names()).toEqual(['cb_1/src/x.py']);
  });

  it('takes the path from the filename by default, with directories and non-ASCII characters', async () => {
    await postForm(['name="file"; filename="docs/é.md"', 'x']);
    expect(names()).toEqual(['cb_1/docs/é.md']);
  });

  it('stores several files, each under its own path', async () => {
    const answer = await postForm(
      ['name="file"; filename="a"', 'A'],
      ['name="path"', 'dir/b'],
      ['name="mode"', '755'],
      ['name="file"; filename="x"', 'BB'],
      ['name="file"; filename="c"', ''],
    );
    expect(answer).toEqual({
      status: 200,
      body: {
        files: [
          { path: 'a', ...stored('A') },
          { path: 'dir/b', ...stored('BB') },
          { path: 'c', ...stored('') },
        ],
      },
    });
    expect([...memory.modes.values()]).toEqual([undefined, 0o755, undefined]);
  });

  it('accepts the forms of browsers and fetch', async () => {
    const data = new FormData();
    data.append('file', new Blob(['one']), 'one.txt');
    data.append('path', 'renamed.txt');
    const answer = await fetch(rest.url + FILES, { method: 'POST', body: data });
    expect(await answer.json()).toEqual(stored('one'));
    expect(names()).toEqual(['cb_1/renamed.txt']);
  });

  it('stores a large file, under its filename or the path before it', async () => {
    const big = Buffer.alloc(9 * MIB, 'z');
    await postForm(['name="file"; filename="big"', big], ['name="path"', 'second'], ['name="file"; filename="x"', big]);
    expect(names()).toEqual(['cb_1/big', 'cb_1/second']);
    expect(memory.files.get('cb_1/big')?.equals(big)).toBe(true);
  });

  it('refuses a path field after its file, and stores nothing', async () => {
    const answer = await postForm(['name="file"; filename="big"', Buffer.alloc(9 * MIB)], ['name="path"', 'x']);
    expect(answer).toMatchObject({
      status: 400,
      body: { message: 'path must come before a file of more than 4194304 bytes' },
    });
    expect(names()).toEqual([]);
  });

  it.each([
    ['a form without a file', [['name="path"', 'x']], 'path has no file to belong to'],
    [
      'an unknown field',
      [
        ['name="paht"', 'x'],
        ['name="file"; filename="a"', 'A'],
      ],
      '"paht" is not a known field; allowed are path, mode, symlink_target',
    ],
    ['an unknown file part', [['name="fiel"; filename="a"', 'A']], '"fiel" is not a known part; the content is "file"'],
    [
      'two paths',
      [
        ['name="path"', 'x'],
        ['name="path"', 'y'],
        ['name="file"; filename="a"', 'A'],
      ],
      'path is given twice for one file',
    ],
    [
      'a bad mode',
      [
        ['name="mode"', '9'],
        ['name="file"; filename="a"', 'A'],
      ],
      'mode must be octal permission bits, 0 to 0777',
    ],
    [
      'a long field',
      [
        ['name="path"', 'x'.repeat(9000)],
        ['name="file"; filename="a"', 'A'],
      ],
      'a field must be at most 8192 bytes',
    ],
    ['a form that ends twice', [], 'the form has no part "file"'],
  ] as [string, [string, string][], string][])('refuses %s', async (_what, parts, message) => {
    expect(await postForm(...parts)).toMatchObject({ status: 400, body: { code: 3, message } });
    expect(names()).toEqual([]);
  });

  it.each([
    ['application/json', '{}', /^content-type must be multipart\/form-data/],
    ['multipart/form-data', 'x', /^content-type must be multipart\/form-data/],
    ['multipart/form-data; boundary=', 'x', /^the multipart header is not valid/],
    ['multipart/form-data; boundary=XX', 'garbage', /^the multipart body is not valid/],
    [
      'multipart/form-data; boundary=XX',
      '--XX\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhal',
      /^the multipart body is not valid/,
    ],
    [
      'multipart/form-data; boundary=XX',
      '--XX\r\ncontent-disposition form-data\r\n\r\nx\r\n--XX--',
      /^the multipart body is not valid/,
    ],
  ])('refuses a %s body %j', async (type, body, message) => {
    const answer = await fetch(rest.url + FILES, { method: 'POST', body, headers: { 'content-type': type } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 3, message: expect.stringMatching(message) });
    expect(names()).toEqual([]);
  });

  it('lists the files of a form that were stored before the refused one', async () => {
    const upload = memory.services.upload!;
    overrides.upload = async (id, path, content, options) => {
      if (path === 'b') throw new ServiceError('INVALID_ARGUMENT', 'b is no good');
      return upload(id, path, content, options);
    };
    const answer = await postForm(['name="file"; filename="a"', 'A'], ['name="file"; filename="b"', 'B']);
    const files = [{ path: 'a', ...stored('A') }];
    expect(answer).toEqual({ status: 400, body: { code: 3, message: 'b is no good', details: [{ files }] } });
  });

  it('stores nothing when the client disconnects in the middle of a file', async () => {
    let failure: unknown;
    overrides.upload = async (...args) => {
      failure = await memory.services.upload!(...args).catch((error: unknown) => error);
      throw failure;
    };
    const { headers, body } = form(['name="path"', 'x'], ['name="file"; filename="a"', Buffer.alloc(MIB)]);
    const head = `POST ${FILES} HTTP/1.1\r\nhost: localhost\r\ncontent-type: ${headers['content-type']}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const socket = connect(rest.port, '127.0.0.1');
    socket.write(head);
    socket.write(body.subarray(0, body.length / 2));
    await until(() => socket.bytesWritten > 0 && socket.writableLength === 0);
    socket.destroy();
    await until(() => failure !== undefined);
    expect(names()).toEqual([]);
  });

  it('sends a refusal while the form is still being sent', async () => {
    overrides.upload = () => Promise.reject(new ServiceError('NOT_FOUND', 'there is no codebase cb_1'));
    const answer = await postForm(['name="path"', 'x'], ['name="file"; filename="a"', Buffer.alloc(32 * MIB)]);
    expect(answer.status).toBe(404);
  });
});

describe('a download', () => {
  beforeEach(() => {
    memory.files.set('cb_1/f', Buffer.from('0123456789'));
    memory.files.set('cb_1/empty', Buffer.alloc(0));
  });
  afterEach(() => expect(memory.open_).toBe(0));

  it.each([
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=-99', '0123456789', 'bytes 0-9/10'],
    ['bytes=9-99999', '9', 'bytes 9-9/10'],
    ['bytes=0-0', '0', 'bytes 0-0/10'],
  ])('answers the range %s', async (range, text, contentRange) => {
    const answer = await get('f', { range });
    expect(answer.status).toBe(206);
    expect(answer.headers.get('content-range')).toBe(contentRange);
    expect(await answer.text()).toBe(text);
  });

  it.each(['bytes=10-', 'bytes=-0', 'bytes=99-100'])('refuses the range %s', async (range) => {
    const answer = await get('f', { range });
    expect(answer.status).toBe(416);
    expect(answer.headers.get('content-range')).toBe('bytes */10');
    expect(await answer.json()).toMatchObject({ code: 11, message: 'the file has 10 bytes' });
  });

  it.each(['bytes=1-2,4-5', 'bytes=5-2', 'lines=1-2', 'bytes=x', 'bytes=-'])('ignores the range %s', async (range) => {
    const answer = await get('f', { range });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('0123456789');
  });

  it('answers 304 for content that the client has, and the complete content for a range of other content', async () => {
    const etag = (await get('f', {}, 'HEAD')).headers.get('etag')!;
    expect((await get('f', { 'if-none-match': `"x", ${etag}` })).status).toBe(304);
    expect((await get('f', { 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get('f', { range: 'bytes=1-2', 'if-range': etag })).status).toBe(206);
    expect((await get('f', { range: 'bytes=1-2', 'if-range': '"x"' })).status).toBe(200);
  });

  it('breaks the connection when reading the content fails, and closes the file', async () => {
    overrides.open = async () => ({
      ...memory.stored(Buffer.alloc(10)),
      size: 1000,
      read: () =>
        Readable.from(
          (async function* () {
            yield Buffer.alloc(500);
            throw new Error('EIO');
          })(),
        ),
    });
    await expect(get('f').then((answer) => answer.arrayBuffer())).rejects.toThrow();
    await until(() => memory.open_ === 0);
  });

  it('closes the file when the client disconnects', async () => {
    overrides.open = async () => ({
      ...memory.stored(Buffer.alloc(10)),
      size: 1024 * MIB,
      read: () => Readable.from(repeat(Buffer.alloc(MIB), 1024)),
    });
    const client = new AbortController();
    const answer = await fetch(`${rest.url}${FILES}/f`, { signal: client.signal });
    await answer.body!.getReader().read();
    client.abort();
    await until(() => memory.open_ === 0);
  });
});
