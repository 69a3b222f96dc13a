import { once } from 'node:events';
import http2 from 'node:http2';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ServiceError as GrpcError } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../lib/errors.ts';
import type { Codebases } from '../../lib/services.ts';
import { grpcOver, type Rpc, until } from './clients.ts';
import { fakeServices, MemoryCodebases, sha256 } from './fake-services.ts';

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
  it('stores the chunks of all messages', async () => {
    const answer = await upload([
      { ...head, chunk: bytes('he') },
      { chunk: bytes('ll') },
      { ...head, chunk: bytes('o') },
    ]);
    expect(answer).toEqual({ size: 5, checksum: sha256(bytes('hello')) });
    expect(memory.files.get('cb_1/src/a')?.toString()).toBe('hello');
  });

  it('stores an empty file of one message', async () => {
    expect(await upload([head])).toEqual({ size: 0, checksum: sha256(bytes('')) });
  });

  it('takes mode from the first message', async () => {
    await upload([{ ...head, mode: 0o755 }]);
    expect(memory.modes.get('cb_1/src/a')).toBe(0o755);
    await expect(upload([{ ...head, mode: 0o4755 }])).rejects.toMatchObject({
      code: 3,
      details: 'mode must be between 0 and 511 (0777 in octal)',
    });
  });

  it.each([
    ['no message', [], 'the first message must name codebase_id'],
    ['a first message without a codebase', [{ chunk: bytes('x') }], 'the first message must name codebase_id'],
    [
      'another path later',
      [head, { file_path: 'b' }],
      'file_path must stay empty, or the same as in the first message',
    ],
    [
      'another codebase later',
      [head, { codebase_id: 'cb_2' }],
      'codebase_id must stay empty, or the same as in the first message',
    ],
  ])('refuses %s and stores nothing', async (_what, messages, details) => {
    await expect(upload(messages)).rejects.toMatchObject({ code: 3, details });
    expect(memory.files.size).toBe(0);
  });

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

  it('streams no message for an empty file', async () => {
    memory.files.set('cb_1/empty', Buffer.alloc(0));
    for await (const { data } of download('empty')) expect(data.length).toBe(0);
  });

  it('answers a missing file with NOT_FOUND', async () => {
    await expect(
      (async () => {
        for await (const _ of download('nope'));
      })(),
    ).rejects.toMatchObject({ code: 5 } satisfies Partial<GrpcError>);
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
