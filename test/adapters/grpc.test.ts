import { type ServiceError as GrpcError, Metadata } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { CODES, type Code, ServiceError } from '../../lib/errors.ts';
import { silentLog } from '../../lib/log.ts';
import { grpcOver, type Rpc } from './clients.ts';
import { aSandbox, execution, exit, fakeServices, output } from './fake-services.ts';

let rpc: Rpc;
const start = async (given: Parameters<typeof fakeServices>[0] = {}) => {
  rpc = await grpcOver(fakeServices(given));
};
afterEach(() => rpc.close());

const failure = (call: Promise<unknown>): Promise<GrpcError> =>
  call.then(
    () => Promise.reject(new Error('the call went well')),
    (error: GrpcError) => error,
  );

describe('gRPC', () => {
  it('refuses a host header that differs from :authority', async () => {
    await start({ sandboxes: { get: () => aSandbox } });
    const get = (host: string) => {
      const metadata = new Metadata();
      metadata.set('host', host);
      return rpc.unary('service.v1.SandboxService/GetSandbox', { sandbox_id: 'sb_1' }, metadata);
    };
    expect(await failure(get('evil.example'))).toMatchObject({
      code: CODES.INVALID_ARGUMENT.grpc,
      details: 'the :authority and the host header must name the same host',
    });
    expect(await get('127.0.0.1')).toEqual(aSandbox);
  });

  it('ends a call alone when not even its error can be given', async () => {
    let broken = true;
    const fail = () => {
      if (!broken) return;
      broken = false;
      throw new Error('the log is broken');
    };
    const get = () => {
      if (broken) throw new TypeError('a defect');
      return aSandbox;
    };
    rpc = await grpcOver(fakeServices({ sandboxes: { get } }), { ...silentLog, error: fail });
    const call = () => rpc.unary('service.v1.SandboxService/GetSandbox', { sandbox_id: 'sb_1' });
    expect(await failure(call())).toMatchObject({ code: CODES.INTERNAL.grpc });
    expect(await call()).toEqual(aSandbox);
  });

  it.each(Object.keys(CODES) as Code[])('answers %s with its code and message', async (code) => {
    await start({
      sandboxes: {
        get: () => {
          throw new ServiceError(code, `about ${code}: é`);
        },
      },
    });
    const error = await failure(rpc.unary('service.v1.SandboxService/GetSandbox', { sandbox_id: 'sb_1' }));
    expect(error).toMatchObject({ code: CODES[code].grpc, details: `about ${code}: é` });
  });

  it('answers a message that contains half a surrogate pair', async () => {
    await start({
      sandboxes: {
        get: () => {
          throw new ServiceError('NOT_FOUND', 'no \ud800 here');
        },
      },
    });
    const error = await failure(rpc.unary('service.v1.SandboxService/GetSandbox', {}));
    expect(error).toMatchObject({ code: 5, details: 'no \ufffd here' });
  });

  it('sends the end of a long partial output, within the size of trailers that clients accept', async () => {
    const late = new ServiceError('DEADLINE_EXCEEDED', 'late');
    const long = Buffer.from(`${'é'.repeat(500_000)}the end`);
    await start({ sandboxes: { exec: async () => execution(output(long), output(long, 'STDERR'), late) } });
    const error = await failure(rpc.unary('service.v1.SandboxService/Exec', { command: 'x' }));
    expect(error.code).toBe(4);
    const bytes = error.metadata.get('grpc-status-details-bin')[0] as Buffer;
    expect(bytes.length).toBeLessThan(5000);
    expect(bytes.toString('utf8').match(/the end/g)).toHaveLength(2);
  });

  it('distinguishes map keys from properties of JavaScript objects', async () => {
    const seen: object[] = [];
    await start({
      sandboxes: {
        exec: async ({ env }) => {
          seen.push(env);
          return execution(exit());
        },
      },
    });
    await rpc.unary('service.v1.SandboxService/Exec', { command: 'true', env: { constructor: 'x', toString: 'y' } });
    expect(Object.entries(seen[0]!)).toEqual([
      ['constructor', 'x'],
      ['toString', 'y'],
    ]);
  });

  it('answers an unknown method with UNIMPLEMENTED', async () => {
    await start();
    const pass = (bytes: Buffer) => bytes;
    const call = new Promise((resolve, reject) => {
      rpc.client.makeUnaryRequest('/service.v1.SandboxService/Nope', pass, pass, Buffer.alloc(0), (error, value) =>
        error ? reject(error) : resolve(value),
      );
    });
    expect(await failure(call)).toMatchObject({ code: 12 });
  });

  it('refuses bytes that are not a valid message and continues', async () => {
    await start({ sandboxes: { get: () => aSandbox } });
    const pass = (bytes: Buffer) => bytes;
    for (const bytes of [Buffer.alloc(1000, 0xff), Buffer.from([0x0a, 0xff])]) {
      const call = new Promise((resolve, reject) => {
        rpc.client.makeUnaryRequest('/service.v1.SandboxService/GetSandbox', pass, pass, bytes, (error, value) =>
          error ? reject(error) : resolve(value),
        );
      });
      expect(await failure(call)).toMatchObject({
        code: 3,
        details: 'a message must be valid protobuf of the type of the request',
      });
    }
    expect(await rpc.unary('service.v1.SandboxService/GetSandbox', {})).toEqual(aSandbox);
  });

  it('refuses messages that are disproportionately expensive to decode', async () => {
    await start();
    const pass = (bytes: Buffer) => bytes;
    const rules = Buffer.alloc(8_000_000, Buffer.from([0x12, 0x00]));
    const call = new Promise((resolve, reject) => {
      const path = '/service.v1.SandboxService/CreateSandbox';
      rpc.client.makeUnaryRequest(path, pass, pass, rules, (error, value) => (error ? reject(error) : resolve(value)));
    });
    expect(await failure(call)).toMatchObject({ code: 3, details: 'a message must have at most 65536 values' });
    const upload = new Promise((resolve, reject) => {
      const path = '/service.v1.CodebaseService/UploadFile';
      rpc.client
        .makeClientStreamRequest(path, pass, pass, (error, value) => (error ? reject(error) : resolve(value)))
        .end(rules);
    });
    expect(await failure(upload)).toMatchObject({ code: 3 });
  });

  it('takes the request id from the metadata', async () => {
    const logged: unknown[] = [];
    const services = fakeServices({ sandboxes: { get: () => Promise.reject(new Error('x')) as never } });
    const error = (_message: string, fields?: Readonly<Record<string, unknown>>) => logged.push(fields?.requestId);
    rpc = await grpcOver(services, { debug() {}, info() {}, warn() {}, error });
    const metadata = new Metadata();
    metadata.set('x-request-id', 'r-1');
    await failure(rpc.unary('service.v1.SandboxService/GetSandbox', {}, metadata));
    expect(logged).toEqual(['r-1']);
  });
});
