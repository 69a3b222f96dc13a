import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serialize } from '../../adapters/grpc/protos.ts';
import { splitAddress } from '../contract/rest-client.ts';
import { eventually } from '../contract/scene.ts';
import { Server, State } from '../contract/server.ts';

const MIB = 1024 * 1024;
/** Of the server's memory, whatever is sent. */
const MOST_GROWTH = 300 * MIB;
const GONE = 120 * MIB;
const ADMIN = `pdk_operator_${'r'.repeat(43)}`;
const CREATE = '/service.v1.SandboxService/CreateSandbox';
const EXEC = '/service.v1.SandboxService/Exec';

/** What a client of HTTP/2 sees of a call. */
interface Outcome {
  status?: string;
  message?: string;
}

describe.each(['off', 'keys'] as const)('requests in progress, auth.mode: %s', (mode) => {
  let state: State;
  let server: Server;
  const sessions: ClientHttp2Session[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    state = await State.create();
    const env = mode === 'keys' ? { PADDOCK_ADMIN_KEY: ADMIN } : {};
    server = await Server.start(state, { runtime: 'mock', config: { auth: { mode } }, env });
  });
  const hangUp = () => {
    for (const session of sessions.splice(0)) session.destroy();
    for (const socket of sockets.splice(0)) socket.destroy();
  };
  afterEach(hangUp);
  afterAll(async () => {
    const code = await server?.stop();
    await state?.remove();
    expect(code).toBe(0);
  });

  const headers = { authorization: `Bearer ${ADMIN}` };
  const own = mode === 'keys' ? headers : {};

  /** Begins a call, and sends `bytes` again and again until `size` were sent, in one message of `length`. */
  const call = (
    path: string,
    message: { flag?: number; length: number; bytes: Buffer; size?: number },
    metadata: Record<string, string> = {},
  ): Promise<Outcome> => {
    const session = connectHttp2(`http://${server.grpcAddress}`);
    session.on('error', () => {});
    sessions.push(session);
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
    const stream = session.request({ ...head, ...metadata });
    const outcome: Outcome = {};
    const read = (fields: Record<string, unknown>) => {
      if (fields['grpc-status'] === undefined) return;
      outcome.status = String(fields['grpc-status']);
      outcome.message = decodeURI(String(fields['grpc-message']));
    };
    stream
      .on('response', read)
      .on('trailers', read)
      .on('error', () => {});
    stream.resume();
    const frame = Buffer.alloc(5);
    frame[0] = message.flag ?? 0;
    frame.writeUInt32BE(message.length, 1);
    stream.write(frame);
    const { bytes, size = bytes.length } = message;
    let left = size;
    const more = () => {
      while (left > 0 && !stream.destroyed) {
        left -= bytes.length;
        if (!stream.write(bytes)) return void stream.once('drain', more);
      }
      if (size === message.length) stream.end();
    };
    more();
    return once(stream, 'close').then(() => outcome);
  };

  /** The growth of the server's memory until `ended`, at the same time asking whether it is healthy. */
  const during = async (ended: Promise<unknown>): Promise<number> => {
    const before = server.rss();
    let most = before;
    let done = false;
    void ended.finally(() => {
      done = true;
    });
    while (!done) {
      const answer = await fetch(`http://${server.httpAddress}/health`);
      expect(answer.status).toBe(200);
      most = Math.max(most, server.rss());
    }
    return most - before;
  };

  const comesBack = (before: number) => eventually('memory is given back', async () => server.rss() - before < GONE);

  it('twenty million empty rules in 40 KB are neither decompressed nor decoded', async () => {
    const rules = Buffer.alloc(40_000_000, Buffer.of(0x12, 0));
    const policy = serialize('service.v1.CreateSandboxRequest', { network: { rules: [] } });
    expect(policy.length).toBeGreaterThan(0);
    // Field 17, `network`, of 40,000,000 bytes.
    const gzip = gzipSync(Buffer.concat([Buffer.of(0x8a, 0x01, 0x80, 0xb4, 0x89, 0x13), rules]));
    const message = { flag: 1, length: gzip.length, bytes: gzip };
    const outcomes = Promise.all(Array.from({ length: 5 }, () => call(CREATE, message, { 'grpc-encoding': 'gzip' })));
    expect(await during(outcomes)).toBeLessThan(100 * MIB);
    const refused =
      mode === 'keys'
        ? { status: '16', message: expect.stringMatching(/^a key is required/) }
        : { status: '3', message: 'a message must have at most 8388608 bytes' };
    expect(await outcomes).toEqual(Array.from({ length: 5 }, () => refused));
  });

  it('rules in a message in a message are counted before they are decoded', async () => {
    const rules = Buffer.alloc(4_000_000, Buffer.of(0x12, 0));
    const message = Buffer.concat([Buffer.of(0x8a, 0x01, 0x80, 0x92, 0xf4, 0x01), rules]);
    const outcome = call(CREATE, { length: message.length, bytes: message }, own);
    expect(await during(outcome)).toBeLessThan(100 * MIB);
    expect(await outcome).toEqual({ status: '3', message: 'a message must have at most 65536 values' });
  });

  if (mode === 'keys') {
    it('a call without a key is refused before its message has arrived', async () => {
      const outcome = await call(EXEC, { length: 60 * MIB, bytes: Buffer.from('x') });
      expect(outcome).toEqual({ status: '16', message: expect.stringMatching(/^a key is required/) });
    });
  }

  it.each([20, 200])('%i streams with an unfinished message of 60 MiB each', async (count) => {
    const before = server.rss();
    const bytes = Buffer.alloc(65_536, 'x');
    const size = (count > 20 ? 4 : 59) * MIB;
    const calls = Promise.allSettled(
      Array.from({ length: count }, () => call(EXEC, { length: 60 * MIB, bytes, size })),
    );
    const enough = new Promise((resolve) => setTimeout(resolve, 4000));
    expect(await during(Promise.race([calls, enough]))).toBeLessThan(MOST_GROWTH);
    // Somebody else, with a small request.
    const [host, port] = splitAddress(server.httpAddress);
    const answer = await fetch(`http://${host}:${port}/v1/codebases`, {
      method: 'POST',
      headers: own,
      body: JSON.stringify({ name: 'x', owner_id: 'bob' }),
    });
    expect(answer.status).toBe(200);
    hangUp();
    await calls;
    await comesBack(before);
  });

  it('a hundred messages of 64 KB that are 63 MiB long when they are decompressed', async () => {
    const before = server.rss();
    const gzip = gzipSync(Buffer.alloc(63 * MIB));
    const message = { flag: 1, length: gzip.length, bytes: gzip };
    const metadata = { 'grpc-encoding': 'gzip', ...own };
    const outcomes = Promise.all(Array.from({ length: 100 }, () => call(EXEC, message, metadata)));
    expect(await during(outcomes)).toBeLessThan(MOST_GROWTH);
    expect(new Set((await outcomes).map(({ status }) => status)).has('8')).toBe(true);
    hangUp();
    await comesBack(before);
  });

  it('sixty mebibytes that do not become shorter are decompressed', async () => {
    const stdin_bytes = randomBytes(60 * MIB);
    const exec = serialize('service.v1.ExecRequest', { sandbox_id: 'sb_x', command: 'cat', stdin_bytes });
    const gzip = gzipSync(exec, { level: 1 });
    const before = server.rss();
    const outcome = call(EXEC, { flag: 1, length: gzip.length, bytes: gzip }, { 'grpc-encoding': 'gzip', ...own });
    expect(await during(outcome)).toBeLessThan(MOST_GROWTH);
    expect(await outcome).toEqual({ status: '5', message: expect.stringContaining('sb_x') });
    await comesBack(before);
  });

  it('a client that compresses is served', async () => {
    const gzip = gzipSync(Buffer.from(serialize('service.v1.CreateCodebaseRequest', { name: 'n'.repeat(200) })));
    const outcome = await call(
      '/service.v1.CodebaseService/CreateCodebase',
      { flag: 1, length: gzip.length, bytes: gzip },
      { 'grpc-encoding': 'gzip', ...own },
    );
    expect(outcome.status).toBe('0');
  });

  it.each([
    ['/v1/tickets', 400],
    ['/v1/sandboxes/sb_x/exec', 429],
  ])('forty unfinished JSON bodies of 60 MiB to %s', async (path, status) => {
    const before = server.rss();
    const [host, port] = splitAddress(server.httpAddress);
    const seen: number[] = [];
    const bytes = Buffer.alloc(65_536, 'x');
    const sent = Promise.all(
      Array.from({ length: 40 }, async () => {
        const socket = connect({ host, port });
        sockets.push(socket);
        socket.on('error', () => {});
        socket.once('data', (data) => seen.push(Number(String(data).slice(9, 12))));
        const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ADMIN}\r\n`;
        socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nd\r\n{"command":"x\r\n`);
        for (let left = 8 * MIB; left > 0 && !socket.destroyed; left -= bytes.length) {
          const chunk = Buffer.concat([Buffer.from('10000\r\n'), bytes, Buffer.from('\r\n')]);
          if (socket.write(chunk)) continue;
          await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
        }
      }),
    );
    const enough = new Promise((resolve) => setTimeout(resolve, 8000));
    expect(await during(Promise.race([sent, enough]))).toBeLessThan(MOST_GROWTH);
    await eventually('an answer', async () => seen.length > 0);
    expect(new Set(seen)).toEqual(new Set([status]));
    hangUp();
    await comesBack(before);
  });
});
