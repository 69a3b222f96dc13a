import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Operation, operations } from '../../handlers/index.ts';
import { openAccess } from '../../lib/access/no-keys.ts';
import { ServiceError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import type { Access, Services } from '../../lib/services.ts';
import { servicesThat } from '../handlers/permitted-requests.ts';
import { grpcOver, type Rest, type Rpc, restOver } from './clients.ts';
import { fakeServices } from './fake-services.ts';
import { keyedAccess, keyFor } from './keyed-services.ts';

const agentKey = keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann' });
const ownerKey = keyFor({ owner_id: 'ann' });
const SECRET = ownerKey.text.slice(13);

/** Requests that have reached a service. */
const reached: unknown[] = [];
const lines: string[] = [];
const log = createLog({ level: 'debug', format: 'json' }, { write: (line) => void lines.push(line) });
const connections = new Agent({ keepAlive: true, maxSockets: 8 });

let open: Rest;
let keyed: Rest;
let rpc: Rpc;
beforeAll(async () => {
  open = await restOver(recording(openAccess), log);
  keyed = await restOver(recording(keyAccess()), log);
  rpc = await grpcOver(recording(keyAccess()), log);
});
afterAll(async () => {
  connections.destroy();
  await Promise.all([open.close(), keyed.close(), rpc.close()]);
});
beforeEach(() => {
  reached.length = 0;
});

function keyAccess(): Access {
  const owned = { codebases: { cb_ann: 'ann' }, sandboxes: { sb_ann: 'ann' } };
  return keyedAccess([agentKey, ownerKey], owned, { log }).access;
}

function recording(access: Access): Services {
  const everything = servicesThat((...args) => {
    reached.push(args);
    throw new ServiceError('UNIMPLEMENTED', 'reached');
  });
  return fakeServices({ ...everything, access });
}

/** The path of an operation on ann's things, exactly as it is sent. */
function pathOf({ path, query }: Operation): string {
  const ids: Record<string, string> = { sandbox_id: 'sb_ann', codebase_id: 'cb_ann', owner_id: 'ann', port: '80' };
  const target = path.replace(/\{(\w+)\+?\}/g, (_, name: string) => ids[name] ?? 'a');
  return query ? `${target}?${query}=${query === 'format' ? 'tar' : true}` : target;
}

interface Sent {
  method: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
}

function send({ port }: Rest, { method, path, headers = {}, body }: Sent): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { agent: connections, host: '127.0.0.1', port, method, path, headers: { ...headers, ...length } };
    const call = request(options, (response) => {
      expect(response.headers['access-control-allow-origin']).toBeUndefined();
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject);
    });
    call.once('error', reject).end(body);
  });
}

const paths = operations.filter(({ operation }) => operation !== 'Health');
const changes = paths.filter(({ method }) => method !== 'GET' && method !== 'HEAD');

describe('a web page in the browser of a user whose machine runs a server without keys', () => {
  it('cannot call an operation that changes something, with the requests that need no preflight', async () => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'];
    const pages: OutgoingHttpHeaders[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      { origin: 'http://localhost:1', 'sec-fetch-site': 'same-site' },
    ];
    for (const [at, { method, path }] of changes.map((row) => ({ ...row, path: pathOf(row) })).entries()) {
      for (const [index, page] of pages.entries()) {
        const headers = { ...page, 'content-type': types[(at + index) % 3] };
        const { status } = await send(open, { method, path, headers, body: '{"name":"a","command":"true"}' });
        expect([method, path, status]).toEqual([method, path, 403]);
      }
    }
    expect(reached).toEqual([]);
  });

  it('is permitted no other request by a preflight', async () => {
    for (const row of paths) {
      const headers = { origin: 'https://evil.example', 'access-control-request-method': row.method };
      const { status } = await send(open, { method: 'OPTIONS', path: pathOf(row), headers });
      expect([400, 403, 405]).toContain(status);
    }
    expect(reached).toEqual([]);
  });

  it('cannot call any operation under a name of its own that comes to resolve to the server', async () => {
    const names = ['evil.example', '127.0.0.1.evil.example:8080', 'localhost.evil.example', 'evil.example:80'];
    for (const [at, row] of operations.entries()) {
      const host = names[at % names.length];
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
      const { status } = await send(open, { method: row.method, path: pathOf(row), headers });
      expect([row.operation, status]).toEqual([row.operation, 403]);
    }
    expect(reached).toEqual([]);
  });
});

describe("an agent's key", () => {
  it('does not call the operations of owners by another spelling of the request', async () => {
    const denied = paths.filter(({ access }) => access.role === 'owner' || access.role === 'admin');
    expect(denied.length).toBeGreaterThan(20);
    for (const row of denied) {
      const path = pathOf(row);
      const headers = { authorization: `Bearer ${agentKey.text}` };
      const forms: Sent[] = [
        { method: row.method, path },
        { method: row.method, path: `${path}/` },
        { method: row.method, path: path.replace('/v1/', '/v1//') },
        { method: row.method, path: path.replace('/v1/', '/./v1/') },
        { method: row.method, path: path.replace('/v1/', '/health/../v1/') },
        { method: row.method, path: path.replace('/v1/', '/%76%31/') },
        { method: row.method, path: path.replace('/v1/', '/V1/') },
        { method: row.method, path: `${path};a=b` },
        { method: row.method, path: `http://localhost${path}` },
        { method: row.method.toLowerCase(), path },
        { method: 'POST', path, headers: { 'x-http-method-override': row.method, 'x-original-url': path } },
        { method: row.method, path, headers: { 'x-api-key': agentKey.text } },
        {
          method: row.method,
          path,
          headers: { 'x-forwarded-user': 'admin', 'x-auth-request-email': 'ann@example.com' },
        },
      ];
      for (const form of forms) {
        const { status } = await send(keyed, { ...form, headers: { ...headers, ...form.headers } });
        expect([form, status >= 400 && status < 500]).toEqual([form, true]);
      }
    }
    expect(reached).toEqual([]);
  });
});

describe('a key', () => {
  /** Spellings that are not the key. */
  const wrong = [
    ownerKey.text.slice(0, -1),
    `${ownerKey.text}=`,
    `${ownerKey.text}\u00e9`,
    ownerKey.text.toUpperCase(),
    ownerKey.text.replace('pdk_', ''),
    `${ownerKey.text},${ownerKey.text}`,
    `${ownerKey.text.slice(0, 13)}${agentKey.text.slice(13)}`,
    `pdk_00000000_${SECRET}`,
    encodeURIComponent(`${ownerKey.text} `),
    Buffer.from(ownerKey.text).toString('base64'),
    `pdk_constructor_${SECRET}`,
    `pdk_${'a'.repeat(8)}_${'A'.repeat(4000)}`,
  ];

  it('that is forged, truncated or decorated is refused in one way, and never quoted or logged', async () => {
    const answers = new Set<string>();
    for (const each of wrong) {
      const sent: OutgoingHttpHeaders[] = [
        { authorization: `Bearer ${each}` },
        { authorization: each },
        { authorization: `Basic ${Buffer.from(`ann:${each}`).toString('base64')}` },
        { 'x-api-key': each },
      ];
      for (const headers of sent) {
        const { status, answer } = await send(keyed, { method: 'GET', path: '/v1/caller', headers });
        expect(status).toBe(401);
        answers.add(answer);
      }
      if (/[^\x20-\x7e]/.test(each)) continue;
      const metadata = new Metadata();
      metadata.set('x-api-key', each);
      await expect(rpc.unary('service.v1.KeyService/GetCaller', {}, metadata)).rejects.toMatchObject({ code: 16 });
    }
    expect([...answers]).toEqual(['{"code":16,"message":"the key is not valid","details":[]}']);
    expect(reached).toEqual([]);
    expectNoSecret(lines.join(''));
  });

  it('in a URL, a cookie or a body is not read, and not quoted where it is taken for an id', async () => {
    const { text: key } = ownerKey;
    for (const sent of [
      { method: 'GET', path: `/v1/caller?key=${key}&access_token=${key}&x-api-key=${key}` },
      { method: 'GET', path: '/v1/caller', headers: { cookie: `authorization=Bearer ${key}; x-api-key=${key}` } },
      { method: 'POST', path: '/v1/codebases', body: JSON.stringify({ name: 'a', authorization: key }) },
    ]) {
      const { status, answer } = await send(keyed, sent);
      expect([status, JSON.parse(answer).message]).toEqual([401, expect.stringMatching(/^a key is required/)]);
    }
    const headers = { authorization: `Bearer ${key}`, 'x-request-id': key };
    for (const path of [`/v1/keys/${key}`, `/v1/sandboxes/${key}`, `/v1/nothing/${key}`]) {
      const { status, answer } = await send(keyed, { method: 'DELETE', path, headers });
      expect(status).toBe(404);
      expectNoSecret(answer);
    }
    const metadata = new Metadata();
    metadata.set('x-api-key', key);
    const refused = await rpc
      .unary('service.v1.SandboxService/GetSandbox', { sandbox_id: key }, metadata)
      .catch((error: { details: string; metadata: Metadata }) => error);
    const { details, metadata: trailers } = refused as { details: string; metadata: Metadata };
    expect(details).toBe(`sandbox "pdk_${ownerKey.record.id}_…" does not exist`);
    expectNoSecret(String(trailers.get('grpc-status-details-bin')));
    expect(lines.join('')).toContain(`pdk_${ownerKey.record.id}_…`);
    expectNoSecret(lines.join(''));
  });
});

/** No part of the secret that would make the rest easier to guess. */
function expectNoSecret(said: string): void {
  for (let at = 0; at + 8 <= SECRET.length; at += 4) expect(said).not.toContain(SECRET.slice(at, at + 8));
}
