import type { Readable } from 'node:stream';
import { ServiceError } from '../../lib/errors.ts';
import type { Received } from '../../lib/limits/received-bytes.ts';
import { Blocks } from '../received/blocks.ts';
import { answer } from './answer.ts';
import { octal } from './body.ts';
import type { Exchange } from './exchange.ts';
import { type Part, Parts } from './parts.ts';

/** Maximum bytes held in memory of a file whose path may still follow it. */
const HELD_BYTES = 4 * 1024 * 1024;

interface Named {
  path?: string;
  mode?: string;
  symlink_target?: string;
}

type FilePart = Part & { kind: 'file' };

/**
 * POST of a form: parts `file`, and the fields `path`, `mode` (octal) and `symlink_target` of the next file or, at the end
 * of the form, of the last one. Each file is stored separately and completely; the details of an error list the stored files.
 */
export async function respondMultipart({
  req,
  res,
  operation,
  event,
  context,
  received,
}: Exchange<'multipart'>): Promise<void> {
  const parts = new Parts(req);
  const files: object[] = [];
  const store = async (part: FilePart, named: Named) => {
    const early = await readEarly(part, named, parts, received);
    const { path, mode, symlink_target } = early.named;
    const file_path = path ?? part.filename;
    const stored = (await operation.handler(
      {
        headers: {},
        pathParameters: { ...event.pathParameters, file_path },
        queryStringParameters: {
          ...(mode !== undefined && { mode: octal(mode) }),
          ...(symlink_target !== undefined && { symlink_target }),
        },
        stream: early.content,
      },
      context,
    )) as object;
    files.push({ path: file_path, ...stored });
  };
  try {
    for (let named: Named = {}; ; ) {
      const part = await parts.next();
      if (part.kind === 'end') {
        if (Object.keys(named).length > 0) throw invalid(`${Object.keys(named)[0]} has no file to belong to`);
        break;
      }
      if (part.kind === 'field') {
        named = withField(named, part);
        continue;
      }
      if (part.name !== 'file')
        throw invalid(`${JSON.stringify(part.name)} is not a known part; the content is "file"`);
      await store(part, named);
      named = {};
    }
    if (files.length === 0) throw invalid('the form has no part "file"');
  } catch (thrown) {
    parts.discard();
    if (files.length === 0 || !(thrown instanceof ServiceError)) throw thrown;
    throw new ServiceError(thrown.code, thrown.message, [...thrown.details, { files }], { cause: thrown });
  } finally {
    req.setTimeout(0);
  }
  if (files.length > 1) return answer(res, 200, { files });
  const { path: _, ...stored } = files[0] as Record<string, unknown>;
  answer(res, 200, stored);
}

function withField(named: Named, { name, value }: { name: string; value: string }): Named {
  if (name !== 'path' && name !== 'mode' && name !== 'symlink_target') {
    throw invalid(`${JSON.stringify(name)} is not a known field; allowed are path, mode, symlink_target`);
  }
  if (named[name] !== undefined) throw invalid(`${name} is given twice for one file`);
  return { ...named, [name]: value };
}

/**
 * Returns the fields of a file before its content is stored. A file without a preceding path is buffered, because its
 * path may be the last field of the form: nothing may be stored under the filename then.
 */
async function readEarly(
  part: FilePart,
  named: Named,
  parts: Parts,
  received: Pick<Received, 'hold'> | undefined,
): Promise<{ named: Named; content: AsyncIterable<Buffer> }> {
  const source = bytesOf(part.stream, parts);
  if (named.path !== undefined) return { named, content: source };
  const held = new Blocks();
  const heldNow = () => received?.hold(held.held);
  while (held.size <= HELD_BYTES) {
    const { value, done } = await source.next();
    if (!done) {
      held.add(value);
      heldNow();
      continue;
    }
    return { named: await trailing(named, parts), content: replay(held, heldNow) };
  }
  return { named, content: replay(held, heldNow, endOfLarge(source, parts)) };
}

/** The fields after the last file of the form, which belong to it. Fields before another file are left in place. */
async function trailing(named: Named, parts: Parts): Promise<Named> {
  const fields: (Part & { kind: 'field' })[] = [];
  while ((await parts.peek()).kind === 'field') fields.push((await parts.next()) as Part & { kind: 'field' });
  if ((await parts.peek()).kind === 'end') return fields.reduce(withField, named);
  parts.putBack(fields);
  return named;
}

async function* replay(
  held: Blocks,
  taken: () => void,
  rest?: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, void> {
  if (held.size > 0) yield held.take();
  taken();
  if (rest) yield* rest;
}

/**
 * Yields the rest of a large file and throws at its end if a path follows: the file is already being stored under its
 * filename.
 */
async function* endOfLarge(source: AsyncIterable<Buffer>, parts: Parts): AsyncGenerator<Buffer, void, void> {
  yield* source;
  const before = await trailing({}, parts);
  if (Object.keys(before).length === 0) return;
  throw invalid(`${Object.keys(before)[0]} must come before a file of more than ${HELD_BYTES} bytes`);
}

async function* bytesOf(stream: Readable, parts: Parts): AsyncGenerator<Buffer, void, void> {
  try {
    yield* stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch {
    throw parts.error;
  }
}

function invalid(message: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', message);
}
