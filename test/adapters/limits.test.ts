import { type ServiceError as GrpcError, Metadata as GrpcMetadata } from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { protos } from '../../adapters/grpc/protos.ts';
import { CODES, ServiceError } from '../../lib/errors.ts';
import { type CallLimits, NO_LIMITS } from '../../lib/limits/limits.ts';
import { StoredLimits } from '../../lib/limits/stored-limits.ts';
import type { OwnerRecord } from '../../lib/metadata/metadata.ts';
import type { Execution } from '../../lib/runtime/runtime.ts';
import type { Keys } from '../../lib/services.ts';
import { grpcOver, type Rest, type Rpc, rawRequest, restOver, until } from './clients.ts';
import { aCodebase, exit, fakeServices, output } from './fake-services.ts';
import { keyedAccess, keyFor, tableOf } from './keyed-services.ts';

const ann = keyFor({ owner_id: 'ann' });
const agent = keyFor({ role: 'agent', owner_id: 'ann', sandbox_id: 'sb_ann' });
const admin = keyFor({ role: 'admin' });

let rest: Rest;
let rpc: Rpc;
let keys: Keys;
/** Commands in progress: each ends with its signal, or fails when `fail` is called. */
let running: { fail(): void }[];

async function start(limits: Partial<CallLimits>, owners: OwnerRecord[] = []): Promise<void> {
  const opened = keyedAccess(
    [ann, agent, admin],
    { sandboxes: { sb_ann: 'ann' } },
    {
      perKey: { ...NO_LIMITS, ...limits },
      limits: new StoredLimits(tableOf(owners), NO_LIMITS),
      // No time passes, so that what is refused stays refused however slow the machine is.
      uptime: () => 0,
    },
  );
  keys = opened.keys;
  const services = fakeServices({
    ...opened,
    codebases: { create: async () => aCodebase },
    sandboxes: { exec: async (_request, signal) => command(signal) },
  });
  [rest, rpc] = await Promise.all([restOver(services), grpcOver(services)]);
}
beforeEach(() => {
  running = [];
});
afterEach(() => Promise.all([rest.close(), rpc.close()]));

async function* command(signal: AbortSignal): Execution & AsyncGenerator<ReturnType<typeof exit>> {
  yield output('up') as never;
  await new Promise<void>((resolve, reject) => {
    running.push({ fail: () => reject(new ServiceError('DEADLINE_EXCEEDED', 'the command timed out')) });
    signal.addEventListener('abort', () => resolve());
  });
  if (signal.aborted) throw new ServiceError('CANCELLED', 'the command was cancelled');
  yield exit();
}

/** What one call was answered with. `retry`: seconds, rounded up; undefined: none was named. */
interface Answer {
  code: number;
  message: string;
  retry: number | undefined;
}

const CALLS = {
  GetCaller: ['GET', '/v1/caller', 'KeyService', {}],
  CreateCodebase: ['POST', '/v1/codebases', 'CodebaseService', { name: 'a' }],
  Exec: ['POST', '/v1/sandboxes/sb_ann/exec', 'SandboxService', { sandbox_id: 'sb_ann', command: 'x' }],
  ExecStream: ['POST', '/v1/sandboxes/sb_ann/exec/stream', 'SandboxService', { sandbox_id: 'sb_ann', command: 'x' }],
} as const;
type Call = keyof typeof CALLS;

async function overRest(call: Call, key = ann.text, signal: AbortSignal | null = null): Promise<Answer> {
  const [method, path, , { ...request }] = CALLS[call];
  const body = method === 'POST' ? { body: JSON.stringify(request) } : {};
  const answer = await fetch(rest.url + path, { method, headers: { 'x-api-key': key }, signal, ...body });
  const text = await answer.text();
  const { code = 0, message = '' } = answer.ok ? {} : (JSON.parse(text) as { code: number; message: string });
  const retry = answer.headers.get('retry-after');
  return { code, message, retry: retry === null ? undefined : Number(retry) };
}

function overGrpc(call: Call, key = ann.text, signal: AbortSignal | null = null): Promise<Answer> {
  const [, , service, request] = CALLS[call];
  const metadata = new GrpcMetadata();
  metadata.set('x-api-key', key);
  return new Promise((resolve) => {
    const done = (error: GrpcError | null) =>
      resolve({ code: error?.code ?? 0, message: error?.details ?? '', retry: retryOf(error) });
    const method = `service.v1.${service}/${call}`;
    if (call === 'ExecStream') {
      const stream = rpc.stream(method, request, {}, metadata);
      stream
        .on('data', () => {})
        .once('error', done)
        .once('end', () => done(null));
      signal?.addEventListener('abort', () => stream.cancel());
    } else {
      const unary = rpc.start(method, request, metadata, done);
      signal?.addEventListener('abort', () => unary.cancel());
    }
  });
}

function retryOf(error: GrpcError | null): number | undefined {
  const [bytes] = error?.metadata.get('grpc-status-details-bin') ?? [];
  if (bytes === undefined) return undefined;
  const decode = (name: string, of: unknown) =>
    (protos[name] as MessageTypeDefinition<object, object>).deserialize(of as Buffer) as never;
  const { code, details } = decode('google.rpc.Status', bytes) as {
    code: number;
    details: { type_url: string; value: Buffer }[];
  };
  const detail = details.find(({ type_url }) => type_url === 'type.googleapis.com/google.rpc.RetryInfo');
  if (detail === undefined) return undefined;
  expect(code).toBe(error?.code);
  const info = decode('google.rpc.RetryInfo', detail.value) as { retry_delay: { seconds: number; nanos: number } };
  return Math.ceil(info.retry_delay.seconds + info.retry_delay.nanos / 1e9);
}

const EXHAUSTED = CODES.RESOURCE_EXHAUSTED.grpc;

describe.each([
  ['REST', overRest],
  ['gRPC', overGrpc],
] as const)('limits over %s', (_protocol, call) => {
  const refusals: [
    what: string,
    limits: Partial<CallLimits>,
    first: Call,
    then: Call,
    message: string,
    retry: number,
  ][] = [
    [
      'requests',
      { requests_per_second: 0.4, request_burst: 1 },
      'GetCaller',
      'GetCaller',
      'the key may make at most 0.4 requests per second, and at most 1 at once (limits.per_key.requests_per_second)',
      3,
    ],
    [
      'creates',
      { creates_per_minute: 1 },
      'CreateCodebase',
      'CreateCodebase',
      'the key may create at most 1 sandboxes, codebases, checkpoints and keys per minute (limits.per_key.creates_per_minute)',
      60,
    ],
    [
      'commands',
      { commands: 1 },
      'Exec',
      'ExecStream',
      'the key may run at most 1 commands at the same time (limits.per_key.commands)',
      1,
    ],
    [
      'streams',
      { streams: 1 },
      'ExecStream',
      'ExecStream',
      'the key may have at most 1 streams, uploads and downloads at the same time (limits.per_key.streams)',
      1,
    ],
  ];
  it.each(refusals)(
    '%s beyond the limit are refused, with the time to wait',
    async (_what, limits, first, then, message, retry) => {
      await start(limits);
      const begun = call(first);
      if (first.startsWith('Exec')) await until(() => running.length === 1);
      else expect((await begun).code).toBe(0);
      expect(await call(then)).toEqual({ code: EXHAUSTED, message, retry });
      expect(running.length).toBeLessThanOrEqual(1);
      // Admins, and the health of the server, have no limits.
      for (let i = 0; i < 3; i++) expect((await call('GetCaller', admin.text)).code).toBe(0);
      expect((await rest.json('GET', '/health')).status).toBe(200);
      expect(await rpc.unary('grpc.health.v1.Health/Check', { service: '' })).toEqual({ status: 'SERVING' });
      for (const { fail } of running) fail();
      await begun;
    },
  );

  it('an owner shares its limits among its keys, and its agents cannot use up what it may create', async () => {
    await start({}, [{ id: 'ann', limits: { commands: 1, creates_per_minute: 1 } }]);
    for (let i = 0; i < 3; i++)
      expect((await call('CreateCodebase', agent.text)).code).toBe(CODES.PERMISSION_DENIED.grpc);
    expect((await call('CreateCodebase')).code).toBe(0);
    const begun = call('Exec', agent.text);
    await until(() => running.length === 1);
    expect((await call('Exec')).message).toBe(
      'owner "ann" may run at most 1 commands at the same time (commands of the owner’s limits)',
    );
    running[0]?.fail();
    await begun;
  });

  const ends: [how: string, first: Call, end: (abort: AbortController) => unknown][] = [
    ['an error', 'Exec', () => running[0]?.fail()],
    ['an error in a stream', 'ExecStream', () => running[0]?.fail()],
    ['the loss of its client', 'Exec', (abort) => abort.abort()],
    ['the loss of the client of a stream', 'ExecStream', (abort) => abort.abort()],
    ['the revocation of its key', 'ExecStream', () => keys.revoke(agent.record.id)],
  ];
  it.each(ends)('a command that ends by %s no longer counts', async (_how, first, end) => {
    await start({}, [{ id: 'ann', limits: { commands: 1, streams: 1 } }]);
    const abort = new AbortController();
    const begun = call(first, agent.text, abort.signal).catch(() => undefined);
    await until(() => running.length === 1);
    expect((await call('ExecStream')).code).toBe(EXHAUSTED);
    await end(abort);
    await begun;
    const again = new AbortController();
    const answers: Promise<unknown>[] = [];
    await expect
      .poll(
        async () => {
          const attempt = call('ExecStream', ann.text, again.signal).catch(() => undefined);
          answers.push(attempt);
          await Promise.race([attempt, until(() => running.length > 1)]);
          return running.length;
        },
        { timeout: 30_000 },
      )
      .toBe(2);
    again.abort();
    await Promise.all(answers);
  });
});

it('answers of REST tell what is left of the requests', async () => {
  await start({ requests_per_second: 2, request_burst: 3 });
  const headers = async () => {
    const answer = await fetch(`${rest.url}/v1/caller`, { headers: { 'x-api-key': ann.text } });
    await answer.text();
    return ['limit', 'remaining', 'reset'].map((name) => answer.headers.get(`ratelimit-${name}`));
  };
  expect([await headers(), await headers(), await headers(), await headers()]).toEqual([
    ['3', '2', '1'],
    ['3', '1', '1'],
    ['3', '0', '2'],
    ['3', '0', '2'],
  ]);
  const unlimited = await fetch(`${rest.url}/v1/caller`, { headers: { 'x-api-key': admin.text } });
  expect(unlimited.headers.get('ratelimit-limit')).toBe(null);
  await unlimited.text();
});

it('a refused request is answered before its body is read', async () => {
  await start({ requests_per_second: 1, request_burst: 1 });
  expect((await overRest('GetCaller')).code).toBe(0);
  const head = `POST /v1/sandboxes/sb_ann/exec HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${ann.text}\r\n`;
  const answer = await rawRequest(rest.port, `${head}content-length: 1000000\r\n\r\n{"command":`);
  expect(answer).toMatch(/^HTTP\/1.1 429 /);
  expect(answer).toContain('connection: close');
  expect(answer).toContain('retry-after: 1');
});
