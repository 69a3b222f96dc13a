import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { afterEach, describe, expect, it } from 'vitest';
import { partsOf } from '../../adapters/grpc/large-message.ts';
import { protos } from '../../adapters/grpc/protos.ts';
import { LongText } from '../../lib/long-text.ts';
import { grpcOver, type Rpc, until } from './clients.ts';
import { execution, exit, fakeServices, output } from './fake-services.ts';

const rpc = (service: string, name: string) =>
  (protos[`service.v1.${service}`] as ServiceDefinition)[name] as MethodDefinition<object, object>;

const joined = (parts: readonly (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('the parts of a large message', () => {
  const texts = {
    ASCII: 'x'.repeat(300_000),
    'characters of two to four bytes': 'é\u{fffd}\ud83d\ude00'.repeat(50_000),
    'a character across two pieces': `${'y'.repeat(16_383)}\ud83d\ude00${'z'.repeat(70_000)}`,
  };
  it.each(Object.entries(texts))('form an encoding of the message: %s', (_what, text) => {
    const { responseSerialize, responseDeserialize } = rpc('SandboxService', 'Exec');
    const message = { stdout: new LongText([Buffer.from(text)]), stderr: 'few', exit_code: -1, duration_ms: 7 };
    const decoded = responseDeserialize(joined([...partsOf(message, responseSerialize)])) as { stdout: string };
    expect(decoded.stdout === text).toBe(true);
    expect(decoded).toMatchObject({ stderr: 'few', exit_code: -1, duration_ms: 7 });
  });

  it('form an encoding of a long list', () => {
    const { responseSerialize, responseDeserialize } = rpc('SandboxService', 'ListChanges');
    const changes = Array.from({ length: 5000 }, (_, index) => ({
      path: `d/${index}`,
      kind: 'CHANGE_ADDED',
      size: index,
    }));
    const message = { changes, next_page_token: 'next' };
    const parts = [...partsOf(message, responseSerialize)];
    expect(parts.length).toBeGreaterThan(3);
    expect(responseDeserialize(joined(parts))).toEqual(responseDeserialize(responseSerialize(message)));
  });

  const permissions = Array.from({ length: 10_000 }, (_, index) => ({
    pattern: `**/${index}`,
    permission: 'PERMISSION_WRITE',
    type: 'PATTERN_GLOB',
    priority: index,
  }));
  const sandbox = { id: 'sb_1', permissions, labels: { a: 'b' }, env: { A: 'é' }, shell: '' };
  const ofSandboxes = {
    'a list of sandboxes with many rules': ['ListSandboxes', { sandboxes: [{ id: 'sb_0' }, sandbox, sandbox] }],
    'a sandbox in an entry of a list': ['Fork', { results: [{ sandbox }, { error: { code: 5, message: 'x' } }] }],
  } as const;
  it.each(Object.entries(ofSandboxes))('form an encoding of %s', (_what, [name, message]) => {
    const { responseSerialize, responseDeserialize } = rpc('SandboxService', name);
    const parts = [...partsOf(message, responseSerialize)];
    expect(parts.length).toBeGreaterThan(20);
    expect(responseDeserialize(joined(parts))).toEqual(responseDeserialize(responseSerialize(message)));
  });
});

describe('a large answer over gRPC', () => {
  let server: Rpc;
  afterEach(() => server.close());
  const text = 'é0123456789'.repeat(500_000);
  const answering = () =>
    grpcOver(
      fakeServices({ sandboxes: { exec: async () => execution(output(text), output('e', 'STDERR'), exit(3)) } }),
    );

  it('is aborted when the client disconnects, and the server continues', async () => {
    server = await answering();
    const { path, requestSerialize, responseDeserialize } = rpc('SandboxService', 'Exec');
    let code: number | undefined;
    const request = { sandbox_id: 'sb_1', command: 'x' };
    const call = server.client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error) => {
      code = error?.code;
    });
    call.once('metadata', () => call.cancel());
    await until(() => code !== undefined);
    expect(code).toBe(1);
    const next = await server.unary<{ exit_code: number }>('service.v1.SandboxService/Exec', request);
    expect(next.exit_code).toBe(3);
  });
});
