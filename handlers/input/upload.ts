import { ServiceError } from '../../lib/errors.ts';
import { bytes, type Fields, type MessageOf, readFields } from './kinds.ts';

interface Part<F extends Fields> {
  said: MessageOf<F>;
  chunk: Uint8Array;
}

/**
 * What a stream of bytes is about, and the bytes. REST: the request, and `stream` are the bytes. gRPC: the first message
 * of `stream` says it and may carry a chunk; later ones leave the fields empty, or repeat them. The first field of the
 * table is never empty.
 */
export async function readUpload<const F extends Fields>(
  fields: F,
  request: MessageOf<F>,
  stream: AsyncIterable<unknown> | undefined,
): Promise<{ head: MessageOf<F>; content: AsyncIterable<Uint8Array> }> {
  const first = Object.keys(fields)[0] as keyof MessageOf<F> & string;
  if (request[first] !== '') return { head: request, content: bytesOf(stream) };
  const parts = readParts(fields, stream);
  const { value } = await parts.next();
  if (!value || value.said[first] === '') {
    throw new ServiceError('INVALID_ARGUMENT', `the first message must name ${first}`);
  }
  return { head: value.said, content: contentOf(fields, value, parts) };
}

async function* bytesOf(stream: AsyncIterable<unknown> | undefined): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of stream ?? []) yield chunk as Uint8Array;
}

async function* readParts<const F extends Fields>(
  fields: F,
  stream: AsyncIterable<unknown> | undefined,
): AsyncGenerator<Part<F>, void, void> {
  for await (const message of stream ?? []) {
    const { chunk, ...said } = message as { chunk?: unknown };
    yield { said: readFields(fields, said, ''), chunk: chunk ? bytes.read(chunk, 'chunk') : bytes.absent() };
  }
}

async function* contentOf<const F extends Fields>(
  fields: F,
  head: Part<F>,
  rest: AsyncIterable<Part<F>>,
): AsyncGenerator<Uint8Array, void, void> {
  const absent = readFields(fields, {}, '');
  yield head.chunk;
  for await (const { said, chunk } of rest) {
    for (const name of Object.keys(fields) as (keyof MessageOf<F> & string)[]) {
      if (said[name] !== absent[name] && said[name] !== head.said[name]) {
        throw new ServiceError('INVALID_ARGUMENT', `${name} must stay empty, or the same as in the first message`);
      }
    }
    yield chunk;
  }
}
