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
  file_descriptor_response?: { file_descriptor_proto: Buffer[] };
  error_response?: { error_code: number };
}

async function ask(...requests: object[]): Promise<Reply[]> {
  const call = rpc.duplex('grpc.reflection.v1.ServerReflection/ServerReflectionInfo');
  for (const request of requests) call.write(request);
  call.end();
  const replies: Reply[] = [];
  for await (const reply of call as AsyncIterable<Reply>) replies.push(reply);
  return replies;
}

describe('server reflection', () => {
  it('answers a symbol with its file and all files that it imports', async () => {
    const symbols = ['service.v1.SandboxService', 'service.v1.SandboxService.Exec', 'service.v1.Sandbox'];
    const replies = await ask(...symbols.map((file_containing_symbol) => ({ file_containing_symbol })));
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

  it('answers unknown names with NOT_FOUND, and continues', async () => {
    const replies = await ask(
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
