import { once } from 'node:events';
import http2 from 'node:http2';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../lib/errors.ts';
import type { Codebases } from '../../lib/services.ts';
import { grpcOver, type Rpc, until } from './clients.ts';
import { fakeServices, MemoryCodebases } from './fake-services.ts';

const MIB = 1024 * 1024;
let memory: MemoryCodebases;
let overrides: Partial<Codebases>;
let rpc: Rpc;

beforeEach(async () => {
  memory = new MemoryCodebases();
  overrides = {};
  const given = fakeServices({ codebases: memory.services });
  const get = (target: Codebases, name: string | symbol) => Reflect.get(name in overrides ? overrides : target, name);
  rpc = await grpcOver({ ...given, codebases: new Proxy(given.codebases, { get }) });
});
afterEach(() => rpc.close());

async function upload(messages: Iterable<object> | AsyncIterable<object>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = rpc.upload((error, value) => (error ? reject(error) : resolve(value)));
    pipeline(Readable.from(messages), call as unknown as Writable).catch(() => {});
  });
}
const head = { codebase_id: 'cb_1', file_path: 'src/a' };
const bytes = (text: string) => Buffer.from(text);
const download = (file_path: string) =>
  rpc.stream('service.v1.CodebaseService/DownloadFile', { codebase_id: 'cb_1', file_path }) as AsyncIterable<{
    data: Buffer;
  }>;

describe('UploadFile over gRPC', () => {
  it('sends a refusal while the client is still sending', async () => {
    overrides.upload = async (_id, _path, content) => {
      for await (const _ of content) throw new ServiceError('RESOURCE_EXHAUSTED', 'the disk is full');
      return { size: 0, checksum: '' };
    };
    const endless = (async function* () {
      yield head;
      for (;;) yield { chunk: Buffer.alloc(65_536) };
    })();
    await expect(upload(endless)).rejects.toMatchObject({ code: 8, details: 'the disk is full' });
  });

  it('stores nothing when the client cancels', async () => {
    for (let round = 0; round < 40; round++) {
      let failure: unknown;
      let started = false;
      overrides.upload = async (id, path, content, options) => {
        started = true;
        failure = await memory.services.upload!(id, path, content, options).then(
          () => 'stored',
          (error: unknown) => error,
        );
        throw failure;
      };
      const call = rpc.upload(() => {});
      call.write({ ...head, chunk: bytes('half') });
      await until(() => started);
      if (round % 2) call.write({ chunk: bytes('more') });
      call.cancel();
      await until(() => failure !== undefined);
      expect(failure).toMatchObject({ code: 'CANCELLED' });
    }
    expect(memory.files.size).toBe(0);
  });

  it('stores nothing when the connection breaks', async () => {
    let failure: unknown;
    let started = false;
    overrides.upload = async (id, path, content, options) => {
      started = true;
      failure = await memory.services.upload!(id, path, content, options).then(
        () => 'stored',
        (error: unknown) => error,
      );
      throw failure;
    };
    const session = http2.connect(`http://127.0.0.1:${rpc.port}`);
    session.on('error', () => {});
    const call = session.request({
      ':method': 'POST',
      ':path': '/service.v1.CodebaseService/UploadFile',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    call.on('error', () => {});
    const message = Buffer.from([0x0a, 4, ...bytes('cb_1'), 0x12, 1, ...bytes('a')]);
    call.write(Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message]));
    await until(() => started);
    session.destroy();
    await until(() => failure !== undefined);
    expect(failure).toMatchObject({ code: 'CANCELLED' });
  });

  it('reads no faster than it stores', async () => {
    let taken = 0;
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    overrides.upload = async (_id, _path, content) => {
      for await (const chunk of content) {
        taken += chunk.length;
        await gate;
      }
      return { size: taken, checksum: '' };
    };
    let sent = 0;
    const answer = upload(
      (async function* () {
        yield head;
        for (; sent < 64 * MIB; sent += 65_536) yield { chunk: Buffer.alloc(65_536) };
      })(),
    );
    await until(() => taken > 0);
    for (let before = -1; before !== sent; await new Promise((resolve) => setTimeout(resolve, 100))) before = sent;
    expect(sent).toBeLessThan(16 * MIB);
    go();
    expect(await answer).toMatchObject({ size: 64 * MIB });
  });
});

describe('DownloadFile over gRPC', () => {
  afterEach(() => expect(memory.open_).toBe(0));

  it('streams the content in messages below the default limit of clients', async () => {
    const content = Buffer.alloc(9 * MIB + 1, 'q');
    memory.files.set('cb_1/big', content);
    const chunks: Buffer[] = [];
    for await (const { data } of download('big')) chunks.push(data);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThanOrEqual(MIB);
    expect(Buffer.concat(chunks).equals(content)).toBe(true);
  });

  it('closes the file when the client cancels', async () => {
    overrides.open = async () => ({
      ...memory.stored(Buffer.alloc(1)),
      read: () => Readable.from(Array.from({ length: 1000 }, () => Buffer.alloc(MIB))),
    });
    const call = rpc.stream('service.v1.CodebaseService/DownloadFile', { codebase_id: 'cb_1', file_path: 'f' });
    call.on('error', () => {});
    await once(call, 'data');
    call.cancel();
    await until(() => memory.open_ === 0);
  });
});
