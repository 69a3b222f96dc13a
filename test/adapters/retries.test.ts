import { join } from 'node:path';
import { Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../handlers/index.ts';
import type { Rpc } from '../../handlers/input/request-fields.ts';
import { rpcs } from '../../lib/contract/schema.ts';
import { silentLog } from '../../lib/log.ts';
import { KEYED_OPERATIONS } from '../../lib/retries/interrupted.ts';
import { KeptAnswers } from '../../lib/retries/kept-answers.ts';
import type { NewCodebase } from '../../lib/services.ts';
import { directoryOfFile } from '../directory.ts';
import { grpcOver, type Rest, type Rpc as RpcServer, restOver } from './clients.ts';
import { aCodebase, aSandbox, fakeServices } from './fake-services.ts';

it.each(operations)(
  '$operation by $method takes an idempotency key if its answers are kept',
  ({ operation, retry }) => {
    expect(KEYED_OPERATIONS.some((each) => each === operation)).toBe(retry === 'key');
  },
);

/** Requests that services have carried out. */
let carriedOut: NewCodebase[];
const directory = directoryOfFile();
let retries: KeptAnswers;
let rest: Rest;
let rpc: RpcServer;

beforeAll(async () => {
  retries = await KeptAnswers.open({ path: join(directory, 'answers'), log: silentLog });
  const codebases = {
    create: async (request: NewCodebase) => {
      carriedOut.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      return { ...aCodebase, id: `cb_${carriedOut.length}`, name: request.name };
    },
  };
  const sandboxes = { start: async () => aSandbox, createCheckpoint: async () => ({ ...CHECKPOINT }) };
  const services = fakeServices({ codebases, sandboxes, retries });
  rest = await restOver(services);
  rpc = await grpcOver(services);
});
afterAll(async () => {
  await rest.close();
  await rpc.close();
  await retries.close();
});
beforeEach(() => {
  carriedOut = [];
});

const CHECKPOINT = { sandbox_id: 'sb_1', name: 'a', created_at: 1, files: 0, bytes: 0 };

const overRest = async (key: string, body: object, path = '/v1/codebases') => {
  const answer = await fetch(rest.url + path, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as { id: string; message: string } };
};
const overGrpc = (key: string, request: object, operation: Rpc = 'CreateCodebase') => {
  const metadata = new Metadata();
  metadata.set('idempotency-key', key);
  return rpc.unary<{ id: string }>(`service.v1.${rpcs[operation].service}/${operation}`, request, metadata);
};

describe('calls with one idempotency key', () => {
  it('have one effect and one answer, over both protocols at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) =>
        index % 2 === 0
          ? (await overRest('many', { name: 'a', owner_id: '' })).body.id
          : (await overGrpc('many', { name: 'a' })).id,
      ),
    );
    expect(answers).toEqual(Array.from({ length: 50 }, () => 'cb_1'));
    expect(carriedOut).toEqual([{ name: 'a', owner_id: '', intent: expect.stringMatching(/^rq_/) }]);
    expect(await overRest('"many"', { name: 'a' })).toMatchObject({ status: 200, body: { id: 'cb_1' } });
  });

  it('and different requests are refused', async () => {
    await overRest('two', { name: 'a' });
    const answer = await overRest('two', { name: 'b' });
    expect(answer).toMatchObject({
      status: 409,
      body: { code: 10, message: expect.stringMatching(/another request/) },
    });
    await expect(overGrpc('two', { name: 'b' })).rejects.toMatchObject({ code: 10 });
    await expect(overGrpc('two', { sandbox_id: 'sb_1', name: 'a' }, 'CreateCheckpoint')).rejects.toMatchObject({
      code: 10,
    });
    const checkpoint = await overRest('two', { name: 'a' }, '/v1/sandboxes/sb_1/checkpoints');
    expect(checkpoint.status).toBe(409);
    expect(carriedOut).toHaveLength(1);
  });
});

it.each(['', ' ', 'a b', 'a,b', '"a', 'a"', 'é', 'x'.repeat(256), '"a", "a"'])('the key %j is refused', async (key) => {
  const message = expect.stringMatching(/^idempotency-key must occur once, with 1 to 255 letters, digits, /);
  const answer = await overRest(Buffer.from(key).toString('latin1'), { name: 'a' });
  expect(answer).toMatchObject({ status: 400, body: { code: 3, message } });
  expect(carriedOut).toEqual([]);
});

it('several keys are refused over gRPC', async () => {
  const metadata = new Metadata();
  metadata.add('idempotency-key', 'a');
  metadata.add('idempotency-key', 'b');
  const refused = rpc.unary('service.v1.CodebaseService/CreateCodebase', { name: 'a' }, metadata);
  await expect(refused).rejects.toMatchObject({ code: 3, details: expect.stringMatching(/must occur once/) });
});

it('operations without keys ignore it, also an invalid one', async () => {
  expect((await overRest('not a key', {}, '/v1/sandboxes/sb_1/start')).status).toBe(200);
});

it('calls without a key are carried out each time', async () => {
  for (const id of ['cb_1', 'cb_2']) {
    expect(await rest.json('POST', '/v1/codebases', { name: 'a' })).toMatchObject({ body: { id } });
  }
  expect(carriedOut.map(({ intent }) => intent)).toEqual([undefined, undefined]);
});
