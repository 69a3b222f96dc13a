import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { Handler, HandlerContext, HandlerEvent, Operation } from '../../handlers/index.ts';
import { operations } from '../../handlers/index.ts';
import type { ProcessEvent } from '../../lib/contract/messages.ts';
import { ServiceError } from '../../lib/errors.ts';
import { type Rest, rawRequest, restOver, until } from './clients.ts';
import { fakeServices } from './fake-services.ts';

const PATH = '/v1/sandboxes/sb_1/processes/p_1/attach';
const NOTHING = { data: Buffer.alloc(0), stream: '', next: 0, gap: 0, keepalive: false };
const event = (fields: Partial<ProcessEvent>): ProcessEvent => ({ ...NOTHING, ...fields });
const CONNECTED = event({ attached: { terminal: true, writer: true, offset: 6 } });
const ATTACH = operations.find(({ kind }) => kind === 'attach') as Operation & { kind: 'attach' };

type Input = Record<string, unknown>;
let handle: (request: HandlerEvent, context: HandlerContext) => AsyncIterable<object>;
let rest: Rest;

beforeEach(async () => {
  const handler: Handler<AsyncIterable<object>> = async (event, context) => handle(event, context);
  rest = await restOver(fakeServices({}), undefined, { operations: [{ ...ATTACH, handler }, ...operations] });
});
afterEach(() => rest.close());

const open = (query = '', headers: Record<string, string> = {}) =>
  new WebSocket(`ws://127.0.0.1:${rest.port}${PATH}${query}`, { headers });

/** All frames until the close, and the close. Binary frames as latin1 text. */
async function framesOf(socket: WebSocket): Promise<{ frames: unknown[]; code: number; reason: string }> {
  const frames: unknown[] = [];
  socket.on('message', (data: Buffer, isBinary) => {
    frames.push(isBinary ? data.toString('latin1') : JSON.parse(data.toString()));
  });
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
  return { frames, code, reason: reason.toString() };
}

/** Why the handshake was refused. */
async function refusal(socket: WebSocket): Promise<{ status: number; body: { code: number; message: string } }> {
  const [, answer] = await once(socket, 'unexpected-response');
  let text = '';
  for await (const piece of answer) text += piece;
  return { status: answer.statusCode, body: JSON.parse(text) };
}

/** Yields `messages` and then what `more` yields for each input. */
function echo(...messages: object[]): typeof handle {
  return async function* (request) {
    yield CONNECTED;
    yield* messages;
    for await (const input of request.stream as AsyncIterable<Input>)
      yield event({ data: Buffer.from(JSON.stringify(input)), next: 100 });
  };
}

/** Ends with the call. */
function waiting(onAbort: (reason: unknown) => void = () => {}): typeof handle {
  return async function* (_, { signal }) {
    yield CONNECTED;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    onAbort(signal.reason);
    throw signal.reason;
  };
}

describe('a WebSocket of an attach', () => {
  it('sends output, replay, gaps and the end as frames, and closes', async () => {
    handle = async function* () {
      yield CONNECTED;
      yield event({ gap: 3, next: 3 });
      yield event({ data: Buffer.from('old'), stream: 'terminal', next: 6 });
      yield event({ keepalive: true });
      yield event({ data: Buffer.from('new'), stream: 'terminal', next: 9 });
      yield event({ data: Buffer.from('bad'), stream: 'stderr', next: 12 });
      yield event({ end: { exit_code: 3, reason: 'exited', signal: 0, duration_ms: 1 } });
    };
    expect(await framesOf(open())).toEqual({
      frames: [
        { type: 'connected', mode: 'pty', offset: 6, writer: true },
        { type: 'gap', bytes: 3, next: 3 },
        '\x03\0\0\0\0\0\0\0\x06old',
        '\x01new',
        '\x02bad',
        { type: 'exit', exit_code: 3, end_reason: 'exited' },
      ],
      code: 1000,
      reason: 'the process has ended',
    });
  });

  it('keeps the streams of a process without a terminal apart in what is from before', async () => {
    handle = async function* () {
      yield event({ attached: { terminal: false, writer: true, offset: 6 } });
      yield event({ data: Buffer.from('old'), stream: 'stderr', next: 6 });
    };
    expect((await framesOf(open())).frames).toEqual([expect.objectContaining({ mode: 'pipe' }), '\x02old']);
  });

  it('passes path, query and frames on as fields of the request', async () => {
    const seen: unknown[] = [];
    handle = async function* (event) {
      seen.push(event.pathParameters, event.queryStringParameters);
      yield CONNECTED;
      for await (const input of event.stream as AsyncIterable<Input>) {
        seen.push(input);
        if (seen.length === 6) return;
      }
    };
    const socket = open('?since=7&takeover=1&pty=1');
    await once(socket, 'open');
    socket.send(Buffer.from('\0a\xff', 'latin1'));
    socket.send('{"type":"resize","cols":80,"rows":24}');
    socket.send('{"type":"signal","signal":"SIGINT"}');
    socket.send('{"type":"eof"}');
    expect((await framesOf(socket)).code).toBe(1000);
    expect(seen).toEqual([
      { sandbox_id: 'sb_1', process_id: 'p_1' },
      { offset: '7', takeover: 'true' },
      { stdin: Buffer.from('a\xff', 'latin1') },
      { resize: { columns: 80, rows: 24 } },
      { signal: 'SIGINT' },
      { end_stdin: true },
    ]);
  });

  it('answers pings of both kinds', async () => {
    handle = echo();
    const socket = open();
    await once(socket, 'open');
    const frames = framesOf(socket);
    socket.ping('x');
    await once(socket, 'pong');
    socket.send('{"type":"ping"}');
    await once(socket, 'message');
    socket.close();
    expect((await frames).frames.at(-1)).toEqual({ type: 'pong' });
  });

  it.each([
    ['a binary frame of an unknown kind', Buffer.from([9, 1]), 1003, 'a binary frame must begin with the byte 0'],
    ['an empty binary frame', Buffer.alloc(0), 1003, 'a binary frame must begin with the byte 0'],
    ['text that is not JSON', 'ls', 1008, 'a text frame must be a JSON object'],
    ['JSON that is no object', '7', 1008, 'a text frame must be a JSON object'],
    ['an unknown type', '{"type":"exec"}', 1008, 'the type of a text frame must be'],
    ['stdin without data', '{"type":"stdin"}', 1008, 'a frame of type stdin must have data'],
    ['a signal without a name', '{"type":"signal"}', 1008, 'a frame of type signal must have a signal'],
  ])('refuses %s', async (_, frame, code, reason) => {
    handle = echo();
    const socket = open();
    await once(socket, 'open');
    socket.send(frame);
    const closed = await framesOf(socket);
    expect(closed).toMatchObject({ code, reason: expect.stringContaining(reason) });
    expect(closed.frames.at(-1)).toMatchObject({ type: 'error', code: 3 });
  });

  it('closes with 1009 for a frame of more than 256 KiB, and aborts the call', async () => {
    let aborted: unknown;
    handle = waiting((reason) => {
      aborted = reason;
    });
    const socket = open();
    await once(socket, 'open');
    socket.send(Buffer.alloc(256 * 1024 + 1));
    expect((await framesOf(socket)).code).toBe(1009);
    await until(() => aborted !== undefined);
  });

  it('closes with 1002 for an unmasked frame', async () => {
    handle = waiting();
    const { socket, rest: frames } = await handshake();
    socket.write(Buffer.from([0x82, 1, 0]));
    await once(socket, 'close');
    expect(frames()).toContain('\x88\x02\x03\xea');
  });

  it.each([
    ['ABORTED', 4001],
    ['UNAVAILABLE', 1001],
    ['UNAUTHENTICATED', 1008],
    ['INTERNAL', 1011],
  ] as const)('tells an error %s with the code %i', async (code, close) => {
    handle = async function* () {
      yield CONNECTED;
      throw code === 'INTERNAL' ? new Error('secret') : new ServiceError(code, 'ended: '.padEnd(300, 'é'));
    };
    const closed = await framesOf(open());
    expect(closed.code).toBe(close);
    expect(Buffer.byteLength(closed.reason)).toBeLessThan(124);
    expect(closed.frames.at(-1)).toMatchObject({ type: 'error', message: expect.not.stringContaining('secret') });
  });
});

describe('the handshake of an attach', () => {
  it('is refused with the status of the call’s error', async () => {
    // biome-ignore lint/correctness/useYield: it fails before the first message
    handle = async function* () {
      throw new ServiceError('NOT_FOUND', 'process p_1 does not exist');
    };
    expect(await refusal(open())).toEqual({
      status: 404,
      body: { code: 5, message: 'process p_1 does not exist', details: [] },
    });
  });

  it.each([
    ['a page of another origin', '', { origin: 'https://evil.example' }, 403],
    ['another origin on the same host', '', { origin: 'http://127.0.0.1:1' }, 403],
    ['a page of another site', '', { 'sec-fetch-site': 'cross-site' }, 403],
    ['an unknown host', '', { host: 'evil.example' }, 403],
    ['an unknown query parameter', '?stdin=a', {}, 400],
    ['a flag that is none', '?takeover=yes', {}, 400],
    ['two different offsets', '?since=1&offset=2', {}, 400],
    ['a mode that the process does not have', '?pty=0', {}, 400],
  ])('is refused for %s', async (_, query, headers, status) => {
    handle = echo();
    const { status: got, body } = await refusal(open(query, headers));
    expect([got, body.message.length > 10]).toEqual([status, true]);
  });

  it('needs the version and a key', async () => {
    handle = echo();
    const head = `GET ${PATH} HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n`;
    expect(await rawRequest(rest.port, `${head}sec-websocket-key: ${'A'.repeat(22)}==\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 [\s\S]*sec-websocket-version: 13\r\n[\s\S]*version must be 13/i,
    );
    expect(await rawRequest(rest.port, `${head}sec-websocket-version: 13\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 400 [\s\S]*sec-websocket-key/,
    );
  });

  it('is asked for with 426 by a request without it', async () => {
    const answer = await fetch(rest.url + PATH);
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket']);
  });

  it('is not made for a request with a body, nor by HTTP/1.0, and the rest of the connection stays in order', async () => {
    const lines =
      'host: localhost\r\nupgrade: websocket\r\nconnection: upgrade, close\r\nsec-websocket-version: 13\r\n';
    const key = `sec-websocket-key: ${'A'.repeat(22)}==\r\n`;
    const body = 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n';
    const answers = await Promise.all([
      rawRequest(rest.port, `GET ${PATH} HTTP/1.1\r\n${lines}${key}content-length: ${body.length}\r\n\r\n${body}`),
      rawRequest(rest.port, `GET ${PATH} HTTP/1.1\r\n${lines}${key}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`),
      rawRequest(rest.port, `GET ${PATH} HTTP/1.0\r\n${lines}${key}\r\n`),
    ]);
    for (const answer of answers) expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 426']);
  });

  it('is not made on other paths and for other protocols: the header is ignored', async () => {
    const asking = (path: string, protocol: string) =>
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nupgrade: ${protocol}\r\nconnection: upgrade\r\n\r\n`;
    const socket = connect(rest.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    const answers = () => text.match(/HTTP\/1.1 \d+/g) ?? [];
    for (const [index, protocol] of ['websocket', 'h2c', 'websocket'].entries()) {
      socket.write(asking('/health', protocol));
      await until(() => answers().length > index);
    }
    socket.destroy();
    expect(answers()).toEqual(Array(3).fill('HTTP/1.1 200'));
    const path = `${PATH.replace('sb_1', '%ff')}`;
    expect(await rawRequest(rest.port, asking(path, 'websocket'))).toMatch(/^HTTP\/1.1 400/);
  });

  it('is not made behind a request that is not answered yet', async () => {
    let calls = 0;
    handle = waiting(() => calls++);
    const socket = connect(rest.port, '127.0.0.1');
    const headers = 'host: localhost\r\ncontent-length: 2\r\n\r\n{}';
    socket.write(`POST /v1/sandboxes HTTP/1.1\r\n${headers}${request()}`);
    await once(socket, 'close');
    expect(calls).toBe(0);
  });
});

const request = () =>
  `GET ${PATH} HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
  `sec-websocket-version: 13\r\nsec-websocket-key: ${'A'.repeat(22)}==\r\n\r\n`;

/** A connection after the handshake, which sends raw bytes. */
async function handshake(): Promise<{ socket: Socket; rest: () => string }> {
  const socket = connect(rest.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  socket.on('error', () => {});
  socket.write(request());
  await until(() => text.includes('\r\n\r\n'));
  return { socket, rest: () => text };
}

describe('an open attach', () => {
  it('is aborted when the client vanishes in the middle of a frame', async () => {
    let aborted: unknown;
    handle = waiting((reason) => {
      aborted = reason;
    });
    const { socket } = await handshake();
    socket.write(Buffer.from([0x82, 0xfe, 1]));
    socket.destroy();
    await until(() => aborted !== undefined);
    expect(aborted).toMatchObject({ code: 'CANCELLED' });
  });

  it('ends with the server, within the grace period', async () => {
    handle = waiting();
    const socket = open();
    await once(socket, 'open');
    const frames = framesOf(socket);
    await rest.close(0);
    expect(await frames).toMatchObject({ code: 1001, reason: 'the server is shutting down' });
  });

  it('is cut when the client does not answer the close', async () => {
    handle = waiting();
    const { socket } = await handshake();
    socket.pause();
    await rest.close(0);
    socket.resume();
    await once(socket, 'close');
  });

  it('produces output at the pace of the client', async () => {
    let produced = 0;
    handle = async function* () {
      yield CONNECTED;
      for (; ; produced++) yield event({ data: Buffer.alloc(65_536), next: 100 + produced });
    };
    const { socket } = await handshake();
    socket.pause();
    const settled = await settledAt(() => produced);
    expect(settled * 65_536).toBeLessThan(32 * 1024 * 1024);
    socket.resume();
    await until(() => produced > settled + 100);
    socket.destroy();
  });

  it('reads input at the pace of the process', async () => {
    let go = () => {};
    let taken = 0;
    handle = async function* (event) {
      yield CONNECTED;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      for await (const { stdin } of event.stream as AsyncIterable<{ stdin: Buffer }>) {
        taken += stdin.length;
        if (taken === 64 * 1024 * 1024) return;
      }
    };
    const socket = open();
    await once(socket, 'open');
    const frame = Buffer.alloc(64 * 1024 + 1);
    for (let sent = 0; sent < 1024; sent++) socket.send(frame);
    expect(await settledAt(() => socket.bufferedAmount)).toBeGreaterThan(32 * 1024 * 1024);
    go();
    expect((await framesOf(socket)).code).toBe(1000);
    expect(taken).toBe(64 * 1024 * 1024);
  });

  it('leaves out pongs that a client does not read', async () => {
    handle = waiting();
    const socket = open();
    await once(socket, 'open');
    (socket as unknown as { _socket: Socket })._socket.pause();
    let gone = false;
    socket.once('close', () => {
      gone = true;
    });
    const text = '{"type":"ping"}';
    for (let sent = 0; sent < 20_000; sent++) socket.send(text);
    expect(gone).toBe(false);
    socket.terminate();
  });

  it('carries 300 clients at once', async () => {
    handle = echo();
    const sockets = Array.from({ length: 300 }, () => open());
    await Promise.all(sockets.map((socket) => once(socket, 'open')));
    const answers = sockets.map((socket) => framesOf(socket));
    for (const [index, socket] of sockets.entries()) {
      socket.send(`{"type":"signal","signal":"S${index}"}`);
    }
    await Promise.all(sockets.map((socket) => once(socket, 'message')));
    for (const socket of sockets) socket.close();
    for (const [index, { frames }] of (await Promise.all(answers)).entries()) {
      expect(frames.at(-1)).toBe(`\x01{"signal":"S${index}"}`);
    }
  });
});

/** The value when it has stayed the same for 300 ms. */
async function settledAt(read: () => number): Promise<number> {
  let value = read();
  let since = Date.now();
  await until(() => {
    if (read() !== value) {
      value = read();
      since = Date.now();
    }
    return Date.now() - since > 300 && value > 0;
  });
  return value;
}
