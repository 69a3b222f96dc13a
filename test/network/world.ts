import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type Server as HttpServer, type RequestListener } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { parseQuery } from '../../lib/network/names/query.ts';
import { replyAddress, replyWithout } from '../../lib/network/names/reply.ts';
import { createSocketMaker } from '../../lib/network/namespace/socket-maker.ts';
import { until } from '../lib/runtime/bwrap/fixture.ts';

/** Names that the certificate of a world is for by default. */
const NAMES = ['api.test', '*.api.test', 'other.test', 'www.test'];

/**
 * The outside world of a test: a network namespace behind a veth pair, with addresses that look public, servers and a name
 * server. The caller must call `close`.
 */
export interface World {
  /** For `network.resolvers`. */
  resolver: string;
  /** Addresses of servers. They all have the same ones. */
  address: string;
  otherAddress: string;
  /** Addresses of a name, at each question. Others do not exist. */
  names: Map<string, () => string>;
  /** Questions that reached the name server. */
  asked: string[];
  /** Path of the certificate of all names, which is its own authority. */
  certificate: string;
  /** HTTP/1.1 and HTTP/2 over TLS, on port 443. */
  https: Http2SecureServer;
  /** On port 80. */
  http: HttpServer;
  /** A listener on another port. */
  listen(port: number, serve: (socket: Socket) => void): Promise<Server>;
  /** Runs a shell script in the network of a process, with the name server of its loopback. */
  inNetworkOf(pid: number, script: string): Promise<string>;
  close(): Promise<void>;
}

const run = promisify(execFile);

/** `answer`: of HTTP and HTTPS. `known`: names that its certificate is for. */
export async function openWorld(answer: RequestListener, known = NAMES): Promise<World> {
  const directory = mkdtempSync('/tmp/paddock-world-');
  const id = process.pid % 65_536;
  // Not announced to anybody else: no host that a test needs has such an address.
  const prefix = `11.${id >> 8}.${id & 255}`;
  // It ends with its input: also when the test is killed.
  const holder = spawn('unshare', ['-npf', '--kill-child', 'cat'], { stdio: ['pipe', 'ignore', 'ignore'] });
  let pid = 0;
  await until('the world', () => {
    pid = Number(readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'latin1').split(' ')[0]);
    return pid > 0 && readFileSync(`/proc/${pid}/comm`, 'latin1').trim() === 'cat';
  });
  const [near, far] = [`pdw${id}a`, `pdw${id}b`];
  await run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', String(pid)]);
  await run('ip', ['address', 'add', `${prefix}.1/24`, 'dev', near]);
  await run('ip', ['link', 'set', near, 'up']);
  await run('nsenter', [
    '-t',
    String(pid),
    '-n',
    'sh',
    '-c',
    `ip link set ${far} up && ip route add ${prefix}.1 dev ${far}`,
  ]);
  const maker = createSocketMaker();
  const { servers, datagrams } = await maker.open(pid, {
    tcp: [80, 443].map((port) => ({ address: '0.0.0.0', port })),
    // Bound, so that its answers come from there.
    udp: [{ address: `${prefix}.53`, port: 53 }],
    routes: [`${prefix}.0/24`],
  });
  const [certificate, key] = await certify(directory, known);
  const http = createHttp(answer);
  const https = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key), allowHTTP1: true });
  https.on('request', answer as never);
  servers[0]!.on('connection', (socket) => http.emit('connection', socket));
  servers[1]!.on('connection', (socket) => https.emit('connection', socket));
  const sockets = new Set<Socket>();
  const listeners = [...servers];
  const names = new Map<string, () => string>();
  const asked: string[] = [];
  datagrams[0]!.on('message', (message, { address, port }) => {
    const query = parseQuery(message);
    if (query === undefined || typeof query === 'number') return;
    asked.push(query.name ?? '');
    const found = query.type === 1 ? names.get(query.name ?? '')?.() : undefined;
    const isKnown = names.has(query.name ?? '');
    datagrams[0]!.send(
      found ? replyAddress(message, query, found) : replyWithout(message, query, isKnown ? 0 : 3),
      port,
      address,
    );
  });
  for (const each of servers) each.on('connection', (socket: Socket) => sockets.add(socket));
  writeFileSync(join(directory, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:10 attempts:1\n');
  return {
    resolver: `${prefix}.53`,
    address: `${prefix}.2`,
    otherAddress: `${prefix}.3`,
    names,
    asked,
    certificate,
    https,
    http,
    async listen(port, serve) {
      const opened = await maker.open(pid, { tcp: [{ address: '0.0.0.0', port }], udp: [], routes: [] });
      const [server] = opened.servers as [Server];
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('error', () => undefined);
        serve(socket);
      });
      listeners.push(server);
      return server;
    },
    async inNetworkOf(of, script) {
      const inside = `mount --bind ${join(directory, 'resolv.conf')} /etc/resolv.conf && ${script}`;
      const options = ['-t', String(of), '-n', 'unshare', '-m', 'sh', '-c', inside];
      const program = spawn('nsenter', options, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 60_000 });
      return text(program.stdout);
    },
    async close() {
      for (const each of listeners) each.close();
      datagrams[0]!.close();
      for (const each of sockets) each.destroy();
      await maker.close();
      holder.kill('SIGKILL');
      await run('ip', ['link', 'delete', near]).catch(() => undefined);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function certify(directory: string, known: readonly string[]): Promise<[certificate: string, key: string]> {
  const [certificate, key, config] = ['world.pem', 'world-key.pem', 'openssl.cnf'].map((name) => join(directory, name));
  writeFileSync(config!, '[req]\ndistinguished_name = dn\n[dn]\n');
  const names = `subjectAltName=${known.map((name) => `DNS:${name}`).join(',')}`;
  const make = ['req', '-x509', '-config', config!, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await run('openssl', [
    ...make,
    '-keyout',
    key!,
    '-out',
    certificate!,
    '-subj',
    '/CN=world',
    '-days',
    '2',
    '-addext',
    names,
  ]);
  return [certificate!, key!];
}
