import { Metadata as GrpcMetadata } from '@grpc/grpc-js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Keys, Services } from '../../lib/services.ts';
import { grpcOver, type Rest, type Rpc, rawRequest, restOver, rpcOf, until } from './clients.ts';
import { aCodebase, fakeServices } from './fake-services.ts';
import { keyedAccess, keyFor } from './keyed-services.ts';

let rest: Rest;
let rpc: Rpc;
let keys: Keys;
let admitted = 0;
/** What took effect. */
const effects: string[] = [];
const owner = keyFor({ owner_id: 'ann' });

beforeEach(async () => {
  admitted = 0;
  effects.length = 0;
  const opened = keyedAccess([owner], { codebases: { cb_1: 'ann' } });
  keys = opened.keys;
  const access: Services['access'] = {
    count: () => () => undefined,
    admit: (...given) => {
      const guard = opened.access.admit(...given);
      admitted++;
      return guard;
    },
  };
  const services = fakeServices({
    access,
    keys: {
      ...keys,
      create: async () => {
        effects.push('key');
        throw new Error('no key is created');
      },
    },
    codebases: {
      create: async () => {
        effects.push('codebase');
        return aCodebase;
      },
      upload: async (_id, _path, content) => {
        for await (const _ of content);
        effects.push('file');
        return { size: 0, checksum: '' };
      },
    },
  });
  [rest, rpc] = await Promise.all([restOver(services), grpcOver(services)]);
});
afterEach(() => Promise.all([rest.close(), rpc.close()]));

it.each([
  ['POST', '/v1/codebases', '{"name":'],
  ['POST', '/v1/keys', '{"name":'],
  ['PUT', '/v1/codebases/cb_1/files/a', 'half'],
])(
  '%s %s has no effect and is UNAUTHENTICATED once its key is revoked before the end of its body',
  async (method, path, half) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${owner.text}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const answer = rawRequest(rest.port, `${head}${half.length.toString(16)}\r\n${half}\r\n`);
    await until(() => admitted === 1);
    await keys.revoke(owner.record.id);
    expect(await answer).toMatch(/^HTTP\/1.1 401 .*the key was revoked/s);
    expect(effects).toEqual([]);
  },
);

it('a gRPC upload has no effect and is UNAUTHENTICATED once its key is revoked before its end', async () => {
  const { path, requestSerialize, responseDeserialize } = rpcOf('service.v1.CodebaseService/UploadFile');
  const metadata = new GrpcMetadata();
  metadata.set('x-api-key', owner.text);
  const answer = new Promise<string>((resolve) => {
    const call = rpc.client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, (error) =>
      resolve(error?.details ?? 'OK'),
    );
    call.write({ codebase_id: 'cb_1', file_path: 'a', chunk: Buffer.from('half') });
  });
  await until(() => admitted === 1);
  await keys.revoke(owner.record.id);
  expect(await answer).toBe('the key was revoked');
  expect(effects).toEqual([]);
});
