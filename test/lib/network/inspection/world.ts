import { createPrivateKey, createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer as createHttps, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { type AuthorityFiles, openAuthority } from '../../../../lib/network/inspection/authority.ts';
import { serverCertificate } from '../../../../lib/network/inspection/certificate.ts';
import { createInspection } from '../../../../lib/network/inspection/inspection.ts';
import type { Decision, Target } from '../../../../lib/network/policy/policy.ts';
import type { Inspector } from '../../../../lib/network/proxy/inspector.ts';
import type { BoundSecret } from '../../../../lib/network/secrets/bound-secret.ts';

const DAY = 24 * 3600_000;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server of one name, and a sandbox whose connections to it are inspected. */
export class World {
  readonly host = 'api.example';
  readonly refusals: string[] = [];
  secrets: BoundSecret[] = [];
  decision: (target: Target) => Partial<Decision> = () => ({});
  /** Requests that arrived at the real server. */
  readonly seen: { method: string; url: string; headers: IncomingHttpHeaders; rawHeaders: string[]; body: string }[] =
    [];
  answer: RequestListener = (_, response) => response.end('ok');
  readonly #closing: (() => Promise<void>)[] = [];
  #authority!: AuthorityFiles;
  #inspector!: Inspector;
  #inside!: Server;
  server!: HttpsServer;
  serverPort = 0;
  dials = 0;
  dial: (signal: AbortSignal) => Promise<Socket> = () => dialled(this.serverPort);

  static async create({ trustServer = true, name = 'api.example', idleMs = 60_000 } = {}): Promise<World> {
    const world = new World();
    const folder = await mkdtemp(join(tmpdir(), 'paddock-inspection-'));
    world.#closing.push(() => rm(folder, { recursive: true }));
    world.#authority = await openAuthority(join(folder, 'own'), Date.now());
    const outside = await openAuthority(join(folder, 'outside'), Date.now());
    world.server = createHttps(keyFor(outside, name), (request, response) => void world.#serve(request, response));
    await world.#listen(world.server);
    world.serverPort = (world.server.address() as AddressInfo).port;
    const extra = trustServer ? outside.certificate : undefined;
    const make = createInspection({ authority: world.#authority, trusted: undefined, extra }, idleMs);
    world.#inspector = make({
      id: 'sb_1',
      secrets: () => world.secrets,
      decide: (target) => ({
        ...{ allowed: true, rule: 0, code: 'allowed', reason: '', inspect: true },
        ...world.decision(target),
      }),
      refused: (target, code) => void world.refusals.push(`${code} ${target.host}`),
      dial: (_, signal) => {
        world.dials++;
        return world.dial(signal);
      },
    });
    world.#inside = createServer((socket) => {
      socket.on('error', () => undefined);
      world.#inspector.handle(socket, Buffer.alloc(0), { host: world.host, port: 443, address: '192.0.2.1' });
    });
    await world.#listen(world.#inside);
    return world;
  }

  needed(host: string): boolean {
    return this.#inspector.needed(host, false);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.reverse()) await close();
  }

  /** A TLS connection from inside. */
  tls(options: ConnectionOptions = {}): TLSSocket {
    const port = (this.#inside.address() as AddressInfo).port;
    const socket = connectTls({ port, servername: this.host, ca: this.#authority.certificate, ...options });
    socket.on('error', () => undefined);
    return socket;
  }

  request(
    path: string,
    options: { method?: string; headers?: object; body?: string | Buffer[] } = {},
  ): Promise<Answer> {
    const { method = 'GET', headers = {}, body } = options;
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        { path, method, headers: { host: this.host, ...headers }, createConnection: () => this.tls() },
        (answer) => {
          text(answer).then(
            (all) => resolve({ status: answer.statusCode!, headers: answer.headers, body: all }),
            reject,
          );
        },
      );
      sent.on('error', reject);
      for (const chunk of [body ?? []].flat()) sent.write(chunk);
      sent.end();
    });
  }

  /** Sends bytes over one connection, and returns what comes until its end. */
  async raw(bytes: string): Promise<string> {
    const socket = this.tls();
    socket.write(bytes);
    return text(socket);
  }

  async #serve(request: IncomingMessage, response: Parameters<RequestListener>[1]): Promise<void> {
    const { method = '', url = '', headers, rawHeaders } = request;
    const entry = { method, url, headers, rawHeaders, body: '' };
    this.seen.push(entry);
    entry.body = await text(request).catch(() => 'cut off');
    this.answer(request, response);
  }

  async #listen(server: Server): Promise<void> {
    const open = new Set<Socket>();
    server.on('connection', (socket: Socket) => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#closing.push(
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of open) socket.destroy();
        }),
    );
  }
}

function keyFor(authority: AuthorityFiles, name: string): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = createPrivateKey(authority.key);
  const issuer = {
    name: new X509Certificate(authority.certificate).subject.replace('CN=', ''),
    privateKey: signer,
    publicKey: createPublicKey(signer),
  };
  const cert = serverCertificate(issuer, name, publicKey, new Date(Date.now() - DAY), new Date(Date.now() + DAY));
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function dialled(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}
