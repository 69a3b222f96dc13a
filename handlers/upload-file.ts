import { ServiceError } from '../lib/errors.ts';
import { bytes, define, fileMode, type MessageOf, readFields, string } from './define.ts';

const uploadFileRequest = { codebase_id: string, file_path: string, chunk: bytes, mode: fileMode };

/**
 * Stores one file. Codebase and path stand in the request (REST: `stream` is the bytes) or in the first message of
 * `stream` (gRPC). The file appears when `stream` ends; when it throws, nothing is stored.
 */
export const uploadFile = define(uploadFileRequest, async ({ request, stream }, { services }) => {
  const parts = readParts(stream ?? noParts());
  const head = request.codebase_id === '' ? (await parts.next()).value : request;
  if (!head || head.codebase_id === '') {
    throw new ServiceError('INVALID_ARGUMENT', 'the first message must name codebase_id and file_path');
  }
  const options = head.mode === 0 ? {} : { mode: head.mode };
  return services.codebases.upload(head.codebase_id, head.file_path, content(head, parts), options);
});

type Part = MessageOf<typeof uploadFileRequest>;

async function* noParts(): AsyncGenerator<never, void, void> {}

async function* readParts(stream: AsyncIterable<unknown>): AsyncGenerator<Part, void, void> {
  for await (const item of stream) {
    if (item instanceof Uint8Array) yield { codebase_id: '', file_path: '', chunk: item, mode: 0 };
    else yield readFields(uploadFileRequest, item as object, '');
  }
}

async function* content(head: Part, rest: AsyncIterable<Part>): AsyncGenerator<Uint8Array, void, void> {
  if (head.chunk.length > 0) yield head.chunk;
  for await (const part of rest) {
    for (const name of ['codebase_id', 'file_path'] as const) {
      if (part[name] !== '' && part[name] !== head[name]) {
        throw new ServiceError('INVALID_ARGUMENT', `${name} must stay empty, or the same as in the first message`);
      }
    }
    if (part.chunk.length > 0) yield part.chunk;
  }
}
