import { join, resolve } from 'node:path';
import type { ClientDuplexStream, ClientReadableStream, Client as GrpcBase } from '@grpc/grpc-js';
import { expect } from 'vitest';
import { connectTo, received, unary } from './grpc-client.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract, everywhere } from './suite.ts';

const PROTO = resolve(import.meta.dirname, '../../proto');
const SERVICES = ['service.v1.CodebaseService', 'service.v1.KeyService', 'service.v1.SandboxService'];

interface ReflectionAnswer {
  list_services_response?: { service: { name: string }[] };
  file_descriptor_response?: { file_descriptor_proto: Uint8Array[] };
  error_response?: { error_code: number };
}

/** Asks the reflection service of `version` the questions, in order. */
async function reflect(scene: Scene, version: string, questions: readonly object[]): Promise<ReflectionAnswer[]> {
  const file = join(PROTO, `grpc/reflection/${version}/reflection.proto`);
  const client = connectTo(file, `grpc.reflection.${version}.ServerReflection`, scene.server.grpcAddress);
  try {
    const method = (client as GrpcBase & { ServerReflectionInfo(): ClientDuplexStream<object, ReflectionAnswer> })
      .ServerReflectionInfo;
    const call = method.call(client);
    for (const question of questions) call.write(question);
    call.end();
    const answers = [];
    for await (const answer of received(call)) answers.push(answer);
    return answers;
  } finally {
    client.close();
  }
}

interface Health extends GrpcBase {
  Check: unknown;
  Watch(request: object): ClientReadableStream<{ status: string }>;
}

function health(scene: Scene): Health {
  const file = join(PROTO, 'grpc/health/v1/health.proto');
  return connectTo(file, 'grpc.health.v1.Health', scene.server.grpcAddress) as Health;
}

const cases: Case[] = [
  ...['v1', 'v1alpha'].map(
    (version): Case => ({
      name: `lists and describes both services by reflection ${version}`,
      async run(scene) {
        const questions = [
          { list_services: '' },
          { file_containing_symbol: 'service.v1.SandboxService' },
          { file_containing_symbol: 'service.v1.ExecRequest' },
          { file_containing_symbol: 'service.v1.Nothing' },
        ];
        const [list, service, message, nothing] = await reflect(scene, version, questions);
        const names = list?.list_services_response?.service.map(({ name }) => name);
        expect(names).toEqual(expect.arrayContaining(SERVICES));
        for (const [answer, symbol] of [
          [service, 'SandboxService'],
          [message, 'ExecRequest'],
        ] as const) {
          const [file] = answer?.file_descriptor_response?.file_descriptor_proto ?? [];
          expect(Buffer.from(file ?? []).toString('latin1')).toContain(symbol);
        }
        expect(nothing?.error_response?.error_code).toBe(5);
      },
    }),
  ),
  {
    name: 'answers grpc.health.v1 for the server and each service',
    async run(scene) {
      const client = health(scene);
      const check = client.Check as (...args: unknown[]) => unknown;
      for (const service of ['', ...SERVICES]) {
        expect(await unary(check.bind(client), { service })).toMatchObject({ status: 'SERVING' });
      }
      await expectRefusal(unary(check.bind(client), { service: 'nothing' }), 'NOT_FOUND');
      for await (const { status } of received(client.Watch({ service: '' }))) {
        expect(status).toBe('SERVING');
        break;
      }
      client.close();
    },
  },
  {
    name: 'uses the server’s runtime.type for a request without runtime',
    async run(scene) {
      const sandbox = await scene.sandboxOn({});
      expect(sandbox.runtime).toBe(`RUNTIME_${scene.runtime.toUpperCase()}`);
    },
  },
  {
    name: 'accepts an upload with a chunk in the first message, and with the same fields in later messages',
    async run(scene) {
      const { id: codebase_id } = await scene.codebase({});
      const head = { codebase_id, file_path: 'a.txt' };
      const messages = [
        { ...head, chunk: Buffer.from('one ') },
        { chunk: Buffer.from('two ') },
        { ...head, chunk: Buffer.from('three') },
      ];
      expect(await scene.grpc.sendMessages('UploadFile', messages)).toMatchObject({ size: 13 });
      expect(await scene.content({ ...(await scene.codebase({})), id: codebase_id }, 'a.txt')).toBe('one two three');
    },
  },
  {
    name: 'refuses an upload without required fields, without messages, and with other fields in later messages',
    async run(scene) {
      const { id: codebase_id } = await scene.codebase({});
      const head = { codebase_id, file_path: 'a.txt' };
      await expectRefusal(
        scene.grpc.sendMessages('UploadFile', [{ chunk: Buffer.from('x') }]),
        'INVALID_ARGUMENT',
        'codebase_id',
      );
      await expectRefusal(scene.grpc.sendMessages('UploadFile', []), 'INVALID_ARGUMENT');
      await expectRefusal(scene.grpc.sendMessages('UploadFile', [{ codebase_id }]), 'INVALID_ARGUMENT');
      await expectRefusal(
        scene.grpc.sendMessages('UploadFile', [head, { file_path: 'b.txt' }]),
        'INVALID_ARGUMENT',
        'file_path',
      );
      expect((await scene.grpc.call('GetCodebase', { codebase_id })).file_count).toBe(0);
    },
  },
  {
    name: 'returns the same code and message as REST',
    async run(scene) {
      const codebase = await scene.codebase({});
      const requests = [
        ['GetSandbox', { sandbox_id: 'sb_absent' }],
        ['CreateSandbox', { codebase_id: codebase.id, expires_in: -1 }],
        ['ListSandboxes', { page_size: 5000 }],
        ['ListFiles', { codebase_id: codebase.id, path: '../x' }],
      ] as const;
      for (const [operation, request] of requests) {
        const over = async (client: Scene['client']) => {
          const error = await expectRefusal(
            client.call(operation, request),
            operation === 'GetSandbox' ? 'NOT_FOUND' : 'INVALID_ARGUMENT',
          );
          return [error.code, error.message, error.details];
        };
        expect(await over(scene.grpc)).toEqual(await over(scene.rest));
      }
    },
  },
  {
    name: 'returns over one protocol the objects created over the other',
    async run(scene) {
      const codebase = await scene.codebase({ 'a.txt': 'text' });
      const sandbox = await scene.sandbox(codebase);
      expect(await scene.rest.call('GetSandbox', { sandbox_id: sandbox.id })).toEqual({ ...sandbox, warnings: [] });
      expect(await scene.rest.call('GetCodebase', { codebase_id: codebase.id })).toEqual(codebase);
      expect(await scene.rest.call('ListFiles', { codebase_id: codebase.id })).toEqual(
        await scene.grpc.call('ListFiles', { codebase_id: codebase.id }),
      );
    },
  },
];

contract('gRPC', everywhere(cases, { protocols: ['grpc'] }));
