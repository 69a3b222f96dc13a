import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startGrpc } from '../../adapters/grpc.ts';
import { startHttp } from '../../adapters/http.ts';
import type { Listener } from '../../adapters/listener.ts';
import { ServerTls } from '../../adapters/tls/server-tls.ts';
import { openAccess } from '../../lib/access/no-keys.ts';
import { ServiceError } from '../../lib/errors.ts';
import { silentLog } from '../../lib/log.ts';
import type { Access } from '../../lib/services.ts';
import { Authority, type KeyPair } from '../certificates.ts';
import { directoryOfFile } from '../directory.ts';
import { until } from './clients.ts';
import { aSandbox, fakeServices } from './fake-services.ts';
import { grpcCall, handshake, identity, restCall, sendPlain } from './tls-clients.ts';

const GET_SANDBOX = 'service.v1.SandboxService/GetSandbox';
const PATH = '/v1/sandboxes/sb_1';
const MAX = 16;
const ATTACHED = {
  ...{ data: Buffer.alloc(0), stream: '', next: 0, gap: 0, keepalive: false },
  attached: { terminal: true, writer: true, offset: 0 },
};
/** OpenSSL permits the old versions at this level only. */
const OLD_CIPHERS = 'DEFAULT:@SECLEVEL=0';

const directory = directoryOfFile();
let authority: Authority;
let pair: KeyPair;
let ca: Buffer;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  authority = await Authority.create(directory);
  pair = await authority.issue('server');
  ca = readFileSync(authority.certificate);
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Started {
  rest: number;
  grpc: number;
  listeners: Listener[];
  /** The names of the clients' certificates, as the access check of each call got them. */
  names: (string | undefined)[];
}

async function start({ clientCa = '', handshakeMs = 60_000, busy = Promise.resolve() } = {}): Promise<Started> {
  const tls = await ServerTls.open({ paths: { ...pair, clientCa }, log: silentLog, handshakeMs });
  const names: Started['names'] = [];
  const access: Access = {
    count: openAccess.count,
    admit(given, need, end, counts) {
      if (need.role !== 'public') names.push(given().clientName?.());
      return openAccess.admit(given, need, end, counts);
    },
  };
  const services = fakeServices({
    access,
    processes: {
      attach: async () =>
        (async function* () {
          yield ATTACHED;
        })(),
    },
    sandboxes: {
      get: () => aSandbox,
      start: async () => {
        await busy;
        return aSandbox;
      },
      create: () => Promise.reject(new ServiceError('RESOURCE_EXHAUSTED', 'no more')),
    },
  });
  const options = { address: { host: '127.0.0.1', port: 0 }, services, maxConnections: MAX, tls, log: silentLog };
  const listeners = [await startHttp(options), await startGrpc(options)];
  ends.push(
    () => tls.close(),
    () => Promise.all(listeners.map(({ close }) => close(0))),
  );
  return { rest: listeners[0]!.port, grpc: listeners[1]!.port, listeners, names };
}

/** Both listeners serve a client that trusts the authority. */
async function expectServing({ rest, grpc }: Started): Promise<void> {
  expect(await restCall(rest, { path: PATH, ca })).toMatchObject({ status: 200 });
  expect(await grpcCall(grpc, authority.certificate, GET_SANDBOX, { request: { sandbox_id: 'sb_1' } })).toMatchObject({
    id: 'sb_1',
  });
}

function silent(port: number) {
  const socket = connectPlain(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
  ends.push(() => socket.destroy());
  return socket;
}

describe('a server with TLS', () => {
  it('serves REST and gRPC to clients that trust its certificate', async () => {
    const server = await start();
    await expectServing(server);
    expect(server.names).toEqual([undefined, undefined]);
    await expect(restCall(server.rest, { path: PATH })).rejects.toThrow(/certificate/);
    const other = await Authority.create(directory, 'another');
    await expect(grpcCall(server.grpc, other.certificate, GET_SANDBOX)).rejects.toMatchObject({ code: 14 });
  });

  it('opens WebSockets', async () => {
    const { rest } = await start();
    const socket = new WebSocket(`wss://localhost:${rest}${PATH}/processes/p_1/attach`, { ca });
    ends.push(() => socket.terminate());
    await once(socket, 'open');
  });

  it('serves curl over TLS 1.2 and 1.3', async () => {
    const { rest } = await start();
    expect(existsSync('/usr/bin/curl')).toBe(true);
    for (const version of ['1.2', '1.3']) {
      const args = ['-sS', '--cacert', authority.certificate, `--tlsv${version}`, '--tls-max', version];
      const url = `https://localhost:${rest}/health`;
      const { stdout } = await promisify(execFile)('/usr/bin/curl', [...args, '-w', ' %{http_version}', url]);
      expect(stdout).toBe('{"status":"ok"} 1.1');
    }
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('refuses a client that has only %s', async (version) => {
    const server = await start();
    for (const port of [server.rest, server.grpc]) {
      const options = { minVersion: version, maxVersion: version, ciphers: OLD_CIPHERS } as const;
      expect(String(await handshake(port, options))).toMatch(/alert protocol version/);
    }
    await expectServing(server);
  });

  it('refuses renegotiation', async () => {
    const server = await start();
    for (const port of [server.rest, server.grpc]) {
      const socket = await handshake(port, { maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] });
      const refusal = await new Promise((resolve) => {
        (socket as TLSSocket).on('error', resolve).renegotiate({ rejectUnauthorized: false }, resolve);
      });
      expect(String(refusal)).toMatch(/no.renegotiation/);
      (socket as TLSSocket).destroy();
    }
  });

  it('negotiates HTTP/2 for gRPC and HTTP/1.1 for REST, and nothing else', async () => {
    const server = await start();
    const protocolOf = async (port: number, ALPNProtocols?: string[]) => {
      const socket = await handshake(port, ALPNProtocols ? { ALPNProtocols } : {});
      ends.push(() => socket instanceof TLSSocket && socket.destroy());
      return socket instanceof TLSSocket ? socket.alpnProtocol : 'refused';
    };
    expect(await protocolOf(server.grpc, ['h2'])).toBe('h2');
    expect(await protocolOf(server.rest, ['h2', 'http/1.1'])).toBe('http/1.1');
    expect(await protocolOf(server.grpc, ['http/1.1'])).toBe('refused');
    expect(await protocolOf(server.rest, ['h2'])).toBe('refused');
    const without = await handshake(server.grpc, {});
    await once(without as TLSSocket, 'close');
    await expectServing(server);
  });

  it('answers nothing to plain text and garbage, and serves others', async () => {
    const server = await start();
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
    for (const port of [server.rest, server.grpc]) {
      for (const bytes of ['GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n', preface, randomBytes(65_536)]) {
        const answer = await sendPlain(port, bytes);
        // At most a TLS alert: 7 bytes of type 21.
        expect(answer.length).toBeLessThanOrEqual(7);
        if (answer.length > 0) expect(answer[0]).toBe(21);
      }
    }
    await expectServing(server);
  });

  it('closes connections whose TLS handshake takes too long', async () => {
    const { rest, grpc } = await start({ handshakeMs: 200 });
    for (const port of [rest, grpc]) {
      const [nothing, half] = [silent(port), silent(port)];
      // The start of a ClientHello.
      half.write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 252]));
      await Promise.all([once(nothing, 'close'), once(half, 'close')]);
    }
  });

  it('closes the oldest connection without a TLS handshake for a new one', async () => {
    const server = await start();
    for (const port of [server.rest, server.grpc]) {
      const first = silent(port);
      const closed = once(first, 'close');
      for (let index = 0; index < 2 * MAX; index++) silent(port);
      await closed;
    }
    await expect.poll(() => expectServing(server).then(() => 'served', String), { timeout: 30_000 }).toBe('served');
  });

  it('sends the answer to a request whose body it refuses, before it closes the connection', async () => {
    const { rest } = await start();
    const headers = { 'content-type': 'application/json' };
    const body = Buffer.alloc(2_000_000, ' ');
    expect(await restCall(rest, { path: '/v1/nothing', method: 'POST', ca, headers }, body)).toMatchObject({
      status: 404,
    });
  });

  it('finishes the calls in progress when it closes, and waits for no handshake', async () => {
    let finish = () => {};
    const busy = new Promise<void>((resolve) => (finish = resolve));
    const { rest, grpc, listeners, names } = await start({ busy });
    const calls = [
      restCall(rest, { path: `${PATH}/start`, method: 'POST', ca }).then(({ status }) => status),
      grpcCall(grpc, authority.certificate, 'service.v1.SandboxService/StartSandbox', {
        request: { sandbox_id: 'sb_1' },
      }).then(() => 'OK'),
    ];
    await until(() => names.length === 2);
    for (const port of [rest, grpc]) await once(silent(port), 'connect');
    const closed = Promise.all(listeners.map(({ close }) => close(60_000)));
    finish();
    expect(await Promise.all(calls)).toEqual([200, 'OK']);
    await closed;
  });

  it('has a gRPC listener that refuses what a web page can send without a preflight', async () => {
    const { grpc, names } = await start();
    const session = connectHttp2(`https://127.0.0.1:${grpc}`, { ca, servername: 'localhost' });
    ends.push(() => session.destroy());
    const path = `/${GET_SANDBOX}`;
    const origin = 'https://evil.example';
    const requests = [
      { ':method': 'OPTIONS', 'access-control-request-method': 'POST' },
      { ':method': 'GET' },
      ...['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'].map((type) => ({
        ':method': 'POST',
        'content-type': type,
      })),
    ];
    for (const headers of requests) {
      const stream = session.request({ ':path': path, origin, ...headers }, { endStream: true });
      const [answer] = await once(stream, 'response');
      expect([405, 415]).toContain(answer[':status']);
      expect(answer['access-control-allow-origin']).toBeUndefined();
      stream.destroy();
    }
    expect(names).toEqual([]);
  });
});

describe('a server that requires client certificates', () => {
  it('serves only clients with a certificate of its authority, and knows their names', async () => {
    const server = await start({ clientCa: authority.certificate });
    const [ann, twoNames] = [
      await authority.issue('ann', 'client'),
      await authority.issue('bob', 'client', '/CN=bob/CN=ann'),
    ];
    const stranger = await (await Authority.create(directory, 'strangers')).issue('eve', 'client');
    const request = { sandbox_id: 'sb_1' };
    for (const refused of [undefined, stranger]) {
      const own = refused ? identity(refused) : {};
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        await expect(restCall(server.rest, { path: '/health', ca, maxVersion, ...own })).rejects.toThrow();
      }
      const options = refused ? { request, identity: refused } : { request };
      await expect(grpcCall(server.grpc, authority.certificate, GET_SANDBOX, options)).rejects.toMatchObject({
        code: 14,
      });
    }
    expect(server.names).toEqual([]);
    for (const own of [ann, twoNames]) {
      expect((await restCall(server.rest, { path: PATH, ca, ...identity(own) })).status).toBe(200);
      await grpcCall(server.grpc, authority.certificate, GET_SANDBOX, { request, identity: own });
    }
    expect(server.names).toEqual(['ann', 'ann', undefined, undefined]);
  });

  it('does not resume a session, so that every connection proves the certificate', async () => {
    const own = { ca, ...identity(await authority.issue('ann', 'client')) };
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { rest: required } = await start({ clientCa: authority.certificate });
      expect(await resumes(required, { ...own, maxVersion })).toBe(false);
      const { rest: without } = await start();
      expect(await resumes(without, { ...own, maxVersion })).toBe(true);
    }
  });
});

/** Whether the second of two connections resumes the session of the first one. */
async function resumes(port: number, options: ConnectionOptions): Promise<boolean> {
  let session: Buffer | undefined;
  let reused = false;
  for (let attempt = 0; attempt < 2; attempt++) {
    const socket = (await handshake(port, { ...options, ...(session && { session }) })) as TLSSocket;
    reused = socket.isSessionReused();
    socket.on('session', (ticket: Buffer) => (session = ticket));
    session ??= socket.getSession();
    socket.write('GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
  }
  return reused;
}
