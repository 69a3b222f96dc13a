import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { grpcOver, type Rpc, until } from './clients.ts';
import { fakeServices } from './fake-services.ts';

let rpc: Rpc;
beforeEach(async () => {
  rpc = await grpcOver(fakeServices());
});
afterEach(() => rpc.close());

interface Reply {
  list_services_response?: { service: { name: string }[] };
  file_descriptor_response?: { file_descriptor_proto: Buffer[] };
  all_extension_numbers_response?: { base_type_name: string };
  error_response?: { error_code: number };
  original_request?: object;
}

async function ask(version: string, ...requests: object[]): Promise<Reply[]> {
  const call = rpc.duplex(`grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`);
  for (const request of requests) call.write(request);
  call.end();
  const replies: Reply[] = [];
  for await (const reply of call as AsyncIterable<Reply>) replies.push(reply);
  return replies;
}

describe.each(['v1', 'v1alpha'])('server reflection %s', (version) => {
  it('lists every service', async () => {
    const [reply] = await ask(version, { list_services: '' });
    expect(new Set(reply?.list_services_response?.service.map(({ name }) => name))).toEqual(
      new Set([
        'service.v1.SandboxService',
        'service.v1.ProcessService',
        'service.v1.CodebaseService',
        'service.v1.ImageService',
        'service.v1.KeyService',
        'service.v1.NetworkService',
        'service.v1.OwnerService',
        'service.v1.PortService',
        'service.v1.SecretService',
        'grpc.health.v1.Health',
        'grpc.reflection.v1.ServerReflection',
        'grpc.reflection.v1alpha.ServerReflection',
      ]),
    );
  });

  it('answers a symbol with its file and all files that it imports', async () => {
    const symbols = ['service.v1.SandboxService', 'service.v1.SandboxService.Exec', 'service.v1.Sandbox'];
    const replies = await ask(version, ...symbols.map((file_containing_symbol) => ({ file_containing_symbol })));
    for (const reply of replies) {
      const files = reply.file_descriptor_response?.file_descriptor_proto ?? [];
      const [own, ...imported] = files.map((bytes) => bytes.subarray(2, 2 + bytes[1]!).toString());
      expect(own).toBe('service/v1/sandbox.proto');
      expect(imported.sort()).toEqual([
        'google/protobuf/empty.proto',
        'service/v1/change.proto',
        'service/v1/exec.proto',
        'service/v1/file.proto',
        'service/v1/network.proto',
        'service/v1/permission.proto',
      ]);
    }
  });

  it('answers a file name with that file', async () => {
    const [reply] = await ask(version, { file_by_filename: 'google/protobuf/empty.proto' });
    expect(reply?.file_descriptor_response?.file_descriptor_proto).toHaveLength(1);
  });

  it('answers unknown names with NOT_FOUND, and continues', async () => {
    const replies = await ask(
      version,
      { file_containing_symbol: 'nope.Nope' },
      { file_by_filename: '/etc/passwd' },
      { file_containing_extension: { containing_type: 'x', extension_number: 1 } },
      { all_extension_numbers_of_type: 'nope' },
      { all_extension_numbers_of_type: 'service.v1.Sandbox' },
      {},
    );
    expect(replies.map((each) => each.error_response?.error_code)).toEqual([5, 5, 5, 5, undefined, 3]);
  });
});

describe('grpc.health.v1', () => {
  const check = (service: string) => rpc.unary('grpc.health.v1.Health/Check', { service });

  it('answers SERVING for the server and for each service', async () => {
    for (const service of ['', 'service.v1.SandboxService', 'service.v1.CodebaseService']) {
      expect(await check(service)).toEqual({ status: 'SERVING' });
    }
    await expect(check('nope')).rejects.toMatchObject({ code: 5 });
  });

  it('Watch streams until the server closes', async () => {
    const states: unknown[] = [];
    const call = rpc.stream('grpc.health.v1.Health/Watch', { service: '' });
    call.on('data', (state) => states.push(state));
    const unknown = rpc.stream('grpc.health.v1.Health/Watch', { service: 'nope' });
    const [state] = await once(unknown, 'data');
    expect(state).toEqual({ status: 'SERVICE_UNKNOWN' });
    await until(() => states.length === 1);
    const ended = once(call, 'end');
    unknown.resume();
    await rpc.close(5000);
    await ended;
    expect(states).toEqual([{ status: 'SERVING' }, { status: 'NOT_SERVING' }]);
  });
});
