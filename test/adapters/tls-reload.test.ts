import { once } from 'node:events';
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { startGrpc } from '../../adapters/grpc.ts';
import { startHttp } from '../../adapters/http.ts';
import { ServerTls } from '../../adapters/tls/server-tls.ts';
import { createLog } from '../../lib/log.ts';
import { Authority, type KeyPair } from '../certificates.ts';
import { directoryOfFile } from '../directory.ts';
import { until } from './clients.ts';
import { fakeServices } from './fake-services.ts';
import { handshake, identity } from './tls-clients.ts';

const directory = directoryOfFile();
let authority: Authority;
let pairs: KeyPair[];
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  authority = await Authority.create(directory);
  pairs = [await authority.issue('first'), await authority.issue('second')];
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A new directory with a pair and an authority. */
function folder(name: string, pair: KeyPair, clientCa = authority.certificate): string {
  const path = join(directory, name);
  mkdirSync(path);
  copyFileSync(pair.certificate, join(path, 'tls.crt'));
  copyFileSync(pair.key, join(path, 'tls.key'));
  copyFileSync(clientCa, join(path, 'ca.crt'));
  return path;
}

/** Replaces a file atomically: a part of a file would be one more that cannot be used. */
function replace(from: string, to: string): void {
  copyFileSync(from, `${to}.new`);
  renameSync(`${to}.new`, to);
}

/** Starts both listeners on the files of a directory; `checks` counts the evaluations of changed files. */
async function start(path: string, { clients = false } = {}) {
  const counts = { checks: 0 };
  const now = () => {
    counts.checks++;
    return Date.now();
  };
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) });
  const paths = { certificate: join(path, 'tls.crt'), key: join(path, 'tls.key') };
  const clientCa = clients ? join(path, 'ca.crt') : '';
  const tls = await ServerTls.open({ paths: { ...paths, clientCa }, log, reloadMs: 20, now });
  const options = { address: { host: '127.0.0.1', port: 0 }, services: fakeServices(), tls, log };
  const listeners = [await startHttp(options), await startGrpc(options)];
  ends.push(
    () => tls.close(),
    () => Promise.all(listeners.map(({ close }) => close(0))),
  );
  return { counts, lines, ports: listeners.map(({ port }) => port) };
}

/** The common name of the certificate that a listener presents to a new connection. */
async function nameAt(port: number): Promise<string> {
  const socket = await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] });
  if (socket instanceof Error) return socket.message;
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

async function expectName(ports: readonly number[], name: string): Promise<void> {
  for (const port of ports) await expect.poll(() => nameAt(port), { timeout: 30_000 }).toBe(name);
}

it('new connections get a certificate whose files were renamed over the old ones, and open ones are kept', async () => {
  const path = folder('renamed', pairs[0]!);
  const { lines, ports } = await start(path);
  await expectName(ports, 'first');
  const kept = (await handshake(ports[0]!, {})) as TLSSocket;
  const fresh = folder('fresh', pairs[1]!);
  for (const name of ['tls.crt', 'tls.key']) renameSync(join(fresh, name), join(path, name));
  await expectName(ports, 'second');
  kept.write('GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n');
  expect(String((await once(kept, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
  kept.destroy();
  expect(lines.filter((line) => line.includes('the TLS files were replaced'))).toHaveLength(1);
});

it('new connections get a certificate whose directory link was replaced, as Kubernetes does', async () => {
  const path = join(directory, 'kubernetes');
  mkdirSync(path);
  symlinkSync(folder('data-1', pairs[0]!), join(path, '..data'));
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(path, name));
  const { ports } = await start(path);
  await expectName(ports, 'first');
  symlinkSync(folder('data-2', pairs[1]!), join(path, '..data_tmp'));
  renameSync(join(path, '..data_tmp'), join(path, '..data'));
  await expectName(ports, 'second');
});

it('files that cannot be used leave the old ones in use, with one line in the log, until they can', async () => {
  const path = folder('bad', pairs[0]!);
  const { counts, lines, ports } = await start(path);
  const reasons = () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  replace(pairs[1]!.key, join(path, 'tls.key'));
  const before = counts.checks;
  // Several evaluations of the same files.
  await until(() => counts.checks > before + 3);
  expect(reasons()).toMatchObject([
    { msg: expect.stringContaining('not used'), reason: expect.stringContaining('is not the private key of') },
  ]);
  await expectName(ports, 'first');
  writeFileSync(join(path, 'tls.crt'), 'garbage');
  await until(() => reasons().length === 2);
  rmSync(join(path, 'tls.crt'));
  await until(() => reasons().length === 3);
  await expectName(ports, 'first');
  expect(lines.join()).not.toContain('PRIVATE KEY');
  copyFileSync(pairs[1]!.certificate, join(path, 'tls.crt'));
  await expectName(ports, 'second');
});

it('a replaced client_ca refuses clients of the old one', async () => {
  const path = folder('authorities', pairs[0]!);
  const { ports } = await start(path, { clients: true });
  const own = identity(await authority.issue('ann', 'client'));
  const refused = async (port: number) =>
    (await handshake(port, { ...own, maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] })) instanceof Error;
  for (const port of ports) expect(await refused(port)).toBe(false);
  const other = await Authority.create(directory, 'other');
  replace(other.certificate, join(path, 'ca.crt'));
  for (const port of ports) await expect.poll(() => refused(port), { timeout: 30_000 }).toBe(true);
});
