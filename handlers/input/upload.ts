import { invalidArgument } from '../../lib/errors.ts';
import { bytes, type Fields, readFields } from './kinds.ts';

interface Part {
  fields: Record<string, unknown>;
  chunk: Uint8Array;
}

/**
 * Reads the request and the bytes of a client stream. REST: `request` is complete and `stream` has the bytes. gRPC: the
 * first message of `stream` is the request and may contain a chunk; in later messages the fields are empty or have the
 * same values. The first field of `fields` must not be empty.
 */
export async function readUpload(
  fields: Fields,
  request: Record<string, unknown>,
  stream: AsyncIterable<unknown> | undefined,
): Promise<{ request: Record<string, unknown>; content: AsyncIterable<Uint8Array> }> {
  const first = Object.keys(fields)[0]!;
  if (request[first] !== '') return { request, content: bytesOf(stream) };
  const parts = readParts(fields, stream);
  const { value } = await parts.next();
  if (!value || value.fields[first] === '') {
    throw invalidArgument('the first message', `must name ${first}`);
  }
  return { request: value.fields, content: contentOf(fields, value, parts) };
}

async function* bytesOf(stream: AsyncIterable<unknown> | undefined): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of stream ?? []) yield chunk as Uint8Array;
}

async function* readParts(
  fields: Fields,
  stream: AsyncIterable<unknown> | undefined,
): AsyncGenerator<Part, void, void> {
  for await (const message of stream ?? []) {
    // Bytes of REST, whose path has left the field empty.
    if (message instanceof Uint8Array) throw invalidArgument(Object.keys(fields)[0]!, 'is required');
    const { chunk, ...others } = message as { chunk?: unknown };
    yield { fields: readFields(fields, others, ''), chunk: chunk ? bytes.read(chunk, 'chunk') : new Uint8Array(0) };
  }
}

async function* contentOf(
  fields: Fields,
  head: Part,
  later: AsyncIterable<Part>,
): AsyncGenerator<Uint8Array, void, void> {
  const absent = readFields(fields, {}, '');
  if (head.chunk.length > 0) yield head.chunk;
  for await (const part of later) {
    for (const name of Object.keys(fields)) {
      if (part.fields[name] !== absent[name] && part.fields[name] !== head.fields[name]) {
        throw invalidArgument(name, 'must stay empty, or the same as in the first message');
      }
    }
    if (part.chunk.length > 0) yield part.chunk;
  }
}
