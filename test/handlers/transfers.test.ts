import { describe, expect, it } from 'vitest';
import type { Download } from '../../handlers/define.ts';
import type { Handler, HandlerEvent } from '../../handlers/index.ts';
import { MemoryCodebases } from '../adapters/fake-services.ts';
import { call, message } from './call.ts';
import { fieldsOf, leaves, permittedRequest, type Row, restEvent, rows, servicesThat } from './permitted-requests.ts';

const { signal } = new AbortController();
const CONTENT = Buffer.alloc(600 * 1024, 'z');
const named = (...kinds: Row['kind'][]) =>
  rows.filter(({ kind }) => kinds.includes(kind)).map((row) => [row.operation, row] as const);

async function* stream(...items: unknown[]): AsyncGenerator<unknown, void, void> {
  yield* items;
}

/** Calls the handler of a download; a closed file is no longer open in `memory`. */
async function downloaded({ handler, kind }: Row, event: Partial<HandlerEvent>) {
  const memory = new MemoryCodebases();
  const exported = { contentType: 'text/x', [Symbol.asyncIterator]: () => stream(CONTENT) };
  const asked: unknown[] = [];
  const services = servicesThat((...args) => {
    asked.push(args);
    return kind === 'download' ? memory.stored(CONTENT) : exported;
  });
  return { memory, asked, answer: await call(handler as Handler<Download & { contentType: string }>, event, services) };
}

describe.each(named('download', 'bytes'))('%s', (_, row) => {
  const request = permittedRequest(row);

  it('passes on its request, and streams the bytes in messages of a size that clients accept', async () => {
    const { answer, asked, memory } = await downloaded(row, restEvent(row, request));
    const chunks: Uint8Array[] = [];
    for await (const { data } of answer) chunks.push(data);
    expect(Buffer.concat(chunks).equals(CONTENT)).toBe(true);
    expect(Math.max(...chunks.map(({ length }) => length))).toBe((row.kind === 'download' ? 512 : 256) * 1024);
    expect([answer.contentType, memory.open_]).toEqual([row.kind === 'download' ? undefined : 'text/x', 0]);
    const format = row.operation === 'ExportCodebaseFiles' ? ['tar'] : [];
    expect([...leaves(asked), ...format]).toEqual(expect.arrayContaining(leaves(request)));
  });

  it('closes its file if the stream is left early, or closed unread', async () => {
    const left = await downloaded(row, message(request));
    for await (const _ of left.answer) break;
    const closed = await downloaded(row, message(request));
    await closed.answer.close?.();
    expect([left.memory.open_, closed.memory.open_]).toEqual([0, row.kind === 'download' ? 0 : closed.memory.open_]);
  });
});

/** Calls the handler of an upload; returns what its service got. */
async function uploaded({ handler }: Row, event: Partial<HandlerEvent>) {
  const got: unknown[] = [];
  const services = servicesThat(async (...args) => {
    for (const each of args) {
      const isContent = typeof each === 'object' && each !== null && Symbol.asyncIterator in each;
      got.push(isContent ? await textOf(each as AsyncIterable<Uint8Array>) : each);
    }
    return {};
  });
  await call(handler, event, { ...services, signal });
  return got;
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe.each(named('raw', 'multipart'))('%s', (_, row) => {
  const request = permittedRequest(row);
  const bytes = (text: string) => Buffer.from(text);
  const inMessages = (...messages: object[]) => uploaded(row, { stream: stream(...messages) });

  it('takes its request and the bytes from the path, the query and the body, or from messages', async () => {
    const rest = await uploaded(row, { ...restEvent(row, request), stream: stream(bytes('ab'), bytes('c')) });
    const grpc = await inMessages({ ...request, chunk: bytes('a') }, { chunk: bytes('bc') }, request);
    expect(rest).toEqual(grpc);
    const ignored = row.path.includes('codebases') && 'format' in request ? ['tar'] : [];
    expect([...leaves(grpc), ...ignored]).toEqual(expect.arrayContaining([...leaves(request), 'abc']));
  });

  it('refuses a first message that names nothing, and a later one that names something else', async () => {
    const [first = ''] = Object.keys(fieldsOf(row.operation));
    const { [first]: __, ...nameless } = request;
    const code = 'INVALID_ARGUMENT';
    await expect(inMessages()).rejects.toMatchObject({ code });
    await expect(inMessages(nameless)).rejects.toMatchObject({ code, message: expect.stringContaining(first) });
    const other = inMessages(request, { [first]: 'another' });
    await expect(other).rejects.toMatchObject({ code, message: expect.stringContaining(`${first} must stay empty`) });
  });
});
