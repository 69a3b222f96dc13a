import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import WebSocket from 'ws';
import { startHttp } from '../../adapters/http.ts';
import type { Listener } from '../../adapters/listener.ts';
import { ServerTls } from '../../adapters/tls/server-tls.ts';
import { openKeyAccess } from '../../lib/access/key-access.ts';
import { NO_LIMITS } from '../../lib/limits/limits.ts';
import { unlimitedOwners } from '../../lib/limits/stored-limits.ts';
import { silentLog } from '../../lib/log.ts';
import type { Metadata } from '../../lib/metadata/metadata.ts';
import type { Processes } from '../../lib/process-services.ts';
import type { Keys } from '../../lib/services.ts';
import { Authority } from '../certificates.ts';
import { fakeServices } from './fake-services.ts';
import { keyFor, tableOf } from './keyed-services.ts';
import { restCall } from './tls-clients.ts';

const ann = keyFor({ owner_id: 'ann' });
const bob = keyFor({ owner_id: 'bob' });
const revoked = keyFor({ owner_id: 'ann' });
const readOnly = keyFor({ owner_id: 'ann', scopes: ['sandboxes:read'] });
const PATH = '/v1/sandboxes/sb_ann/processes/p_1/attach';
const CONNECTED = {
  ...{ data: Buffer.alloc(0), stream: '', next: 0, gap: 0, keepalive: false },
  attached: { terminal: true, writer: true, offset: 0 },
};

let directory: string;
let ca: Buffer;
let tls: ServerTls;
let listener: Listener;
let keys: Keys;
/** Calls in progress. */
let attached = 0;

/** Sends no output until it is aborted. */
const attach: Processes['attach'] = async (_request, { failed }) =>
  (async function* () {
    attached++;
    try {
      yield CONNECTED;
      if (!failed.aborted) await once(failed, 'abort');
      throw failed.reason;
    } finally {
      attached--;
    }
  })();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'paddock-attach-'));
  const authority = await Authority.create(directory);
  ca = readFileSync(authority.certificate);
  tls = await ServerTls.open({
    paths: { ...(await authority.issue('server')), clientCa: '' },
    log: silentLog,
    handshakeMs: 60_000,
  });
  const metadata = {
    codebases: tableOf([]),
    sandboxes: tableOf([{ id: 'sb_ann', owner_id: 'ann' }]),
    keys: tableOf([ann, bob, revoked, readOnly].map(({ record }) => record)),
  } as unknown as Metadata;
  const limits = { perKey: NO_LIMITS, limits: unlimitedOwners(0) };
  const opened = openKeyAccess({ metadata, dbPath: '/nonexistent/db', adminKey: undefined, ...limits, log: silentLog });
  keys = opened.keys;
  const services = fakeServices({ processes: { attach }, ...opened });
  listener = await startHttp({ address: { host: '127.0.0.1', port: 0 }, services, tls, log: silentLog });
});
afterAll(async () => {
  await listener.close(0);
  tls.close();
  rmSync(directory, { recursive: true });
});

const open = (headers: Record<string, string>, query = '') =>
  new WebSocket(`wss://localhost:${listener.port}${PATH}${query}`, { ca, headers });
const withKey = ({ text }: { text: string }) => ({ 'x-api-key': text });

/** The first frame, or the status of the refusal. */
async function outcome(socket: WebSocket): Promise<unknown> {
  const refused = once(socket, 'unexpected-response').then(([, answer]) => answer.statusCode);
  const first = once(socket, 'message').then(([data]) => JSON.parse(data.toString()).type);
  socket.on('error', () => {});
  const result = await Promise.race([refused, first]);
  socket.terminate();
  return result;
}

async function ticketFor(path: string): Promise<string> {
  const headers = { ...withKey(ann), 'content-type': 'application/json' };
  const answer = await restCall(
    listener.port,
    { method: 'POST', path: '/v1/tickets', ca, headers, servername: 'localhost' },
    JSON.stringify({ path }),
  );
  return JSON.parse(answer.body).ticket;
}

it('over TLS, needs a key of the owner with the scope exec', async () => {
  expect(await outcome(open(withKey(ann)))).toBe('connected');
  expect(await outcome(open({}))).toBe(401);
  expect(await outcome(open(withKey(bob)))).toBe(404);
  expect(await outcome(open(withKey(readOnly)))).toBe(403);
  expect(await outcome(open({}, `?key=${ann.text}`))).toBe(401);
});

it('over TLS, opens with a ticket for its path and query, once', async () => {
  const ticket = await ticketFor(`${PATH}?takeover=1`);
  expect(await outcome(open({}, `?takeover=1&ticket=${ticket}`))).toBe('connected');
  expect(await outcome(open({}, `?takeover=1&ticket=${ticket}`))).toBe(401);
  expect(await outcome(open({}, `?takeover=1&ticket=${await ticketFor(PATH)}`))).toBe(401);
});

it('ends with a reason when its key is revoked', async () => {
  const socket = open(withKey(revoked));
  const frames: { type: string; message?: string }[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString())));
  await once(socket, 'open');
  const closed = once(socket, 'close');
  await keys.revoke(revoked.record.id);
  const [code, reason] = await closed;
  expect([code, reason.toString()]).toEqual([1008, 'the key was revoked']);
  expect(frames.at(-1)).toMatchObject({ type: 'error', message: 'the key was revoked' });
  await expect.poll(() => attached, { timeout: 30_000 }).toBe(0);
});
