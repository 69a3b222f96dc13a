import type { Readable } from 'node:stream';
import { ServiceError } from '../../lib/errors.ts';
import { Blocks } from '../received/blocks.ts';
import { answer, answerAny } from './answer.ts';
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

/** A file or the end, and the fields before it. */
interface Next {
  named: Named;
  part: Exclude<Part, { kind: 'field' }>;
}

/**
 * POST of a form: parts `file`, and the fields `path`, `mode` (octal) and `symlink_target` of the next file or, at the end
 * of the form, of the last one. Each file is stored separately and completely; the details of an error list the stored files.
 */
export async function respondMultipart(exchange: Exchange<'multipart'>): Promise<void> {
  const { req, res, turns } = exchange;
  const parts = new Parts(req);
  const files: object[] = [];
  try {
    for (let next = await nextOf(parts); ; ) {
      const { named, part } = next;
      if (part.kind === 'end') {
        refuseFields(named, 'has no file to belong to');
        break;
      }
      if (part.name !== 'file')
        throw invalid(`${JSON.stringify(part.name)} is not a known part; the content is "file"`);
      next = await storeFile(named, part, { exchange, parts, files });
    }
    if (files.length === 0) throw invalid('the form has no part "file"');
  } catch (thrown) {
    parts.discard();
    if (files.length === 0 || !(thrown instanceof ServiceError)) throw thrown;
    throw new ServiceError(thrown.code, thrown.message, [...thrown.details, { files }], { cause: thrown });
  } finally {
    req.setTimeout(0);
  }
  if (files.length > 1) return answerAny(res, 200, { files }, turns);
  const { path: _, ...stored } = files[0] as Record<string, unknown>;
  answer(res, 200, stored);
}

interface Form {
  exchange: Exchange<'multipart'>;
  parts: Parts;
  /** The stored ones. */
  files: object[];
}

/**
 * Stores a file, and returns what follows it. One without a preceding path is buffered, because its path may be the last
 * field of the form: nothing may be stored under the filename then.
 */
async function storeFile(named: Named, { filename, stream }: Part & { kind: 'file' }, form: Form): Promise<Next> {
  const { parts, exchange } = form;
  const source = bytesOf(stream, parts);
  if (named.path !== undefined) {
    await store(named, filename, source, form);
    return nextOf(parts);
  }
  const held = new Blocks();
  let read = await source.next();
  for (; !read.done && held.size <= HELD_BYTES; read = await source.next()) {
    held.add(read.value);
    exchange.received?.hold(held.held);
  }
  let next = read.done ? await nextOf(parts) : undefined;
  const isLast = next?.part.kind === 'end';
  const content = async function* () {
    if (held.size > 0) yield held.take();
    exchange.received?.hold(0);
    if (read.done) return;
    yield read.value;
    yield* source;
    next = await nextOf(parts);
    // The file is already being stored under its filename.
    if (next.part.kind === 'end') refuseFields(next.named, `must come before a file of more than ${HELD_BYTES} bytes`);
  };
  await store(isLast ? merged(named, next!.named) : named, filename, content(), form);
  next ??= await nextOf(parts);
  return isLast ? { ...next, named: {} } : next;
}

async function store(
  { path, mode, symlink_target }: Named,
  filename: string,
  stream: AsyncIterable<Buffer>,
  { exchange: { operation, event, context }, files }: Form,
): Promise<void> {
  const file_path = path ?? filename;
  const queryStringParameters = {
    ...(mode !== undefined && { mode: octal(mode) }),
    ...(symlink_target !== undefined && { symlink_target }),
  };
  const pathParameters = { ...event.pathParameters, file_path };
  const stored = await operation.handler({ headers: {}, pathParameters, queryStringParameters, stream }, context);
  files.push({ path: file_path, ...(stored as object) });
}

async function nextOf(parts: Parts): Promise<Next> {
  let named: Named = {};
  for (;;) {
    const part = await parts.next();
    if (part.kind !== 'field') return { named, part };
    const { name, value } = part;
    if (name !== 'path' && name !== 'mode' && name !== 'symlink_target') {
      throw invalid(`${JSON.stringify(name)} is not a known field; allowed are path, mode, symlink_target`);
    }
    named = merged(named, { [name]: value });
  }
}

function merged(named: Named, others: Named): Named {
  const twice = Object.keys(others).find((name) => Object.hasOwn(named, name));
  if (twice !== undefined) throw invalid(`${twice} is given twice for one file`);
  return { ...named, ...others };
}

function refuseFields(named: Named, problem: string): void {
  const [name] = Object.keys(named);
  if (name !== undefined) throw invalid(`${name} ${problem}`);
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
