import { invalidArgument, ServiceError } from '../../lib/errors.ts';
import { Inlet } from '../../lib/inlet.ts';
import type { AttachedControl, AttachedInput, AttachInput } from '../../lib/process-services.ts';
import { type Fields, readFields } from './kinds.ts';
import { untilAborted } from './until-aborted.ts';

/** Bytes of standard input that are held for a process that reads it slowly. The client waits while there are more. */
const MAX_STDIN_HELD = 64 * 1024;
const MAX_CONTROLS_HELD = 16;
/** What a message costs beyond its bytes, so that empty messages are bounded too. */
const MESSAGE_COST = 64;

/**
 * Reads the request of an attach. REST: `request` is complete and `stream` has the input. gRPC: the first message of
 * `stream` is the request and may contain input; in later messages its fields are empty or have the same values. The
 * first field of `fields` must not be empty.
 */
export async function openAttach(
  fields: Fields,
  request: Record<string, unknown>,
  stream: AsyncIterable<unknown> = none(),
): Promise<{ request: Record<string, unknown>; start(aborted: AbortSignal): AttachMessages }> {
  const later = stream[Symbol.asyncIterator]();
  const name = Object.keys(fields)[0]!;
  const first = request[name] === '' ? await firstOf(later, fields) : request;
  if (first[name] === '') throw invalidArgument('the first message', `must name ${name}`);
  return {
    request: first,
    start(aborted) {
      const input = new AttachMessages();
      if (aborted.aborted) input.fail(aborted.reason);
      else aborted.addEventListener('abort', () => input.fail(aborted.reason), { once: true });
      void input.read(fields, first, { [Symbol.asyncIterator]: () => later });
      return input;
    },
  };
}

async function firstOf(messages: AsyncIterator<unknown>, fields: Fields): Promise<Record<string, unknown>> {
  const { value } = await messages.next();
  return readFields(fields, (value as object | undefined) ?? {}, '');
}

async function* none(): AsyncGenerator<unknown, void, void> {}

/** The output of an attach, which ends with the error of its input. If it is left early, the call has failed. */
export async function* attachOutput<T>(output: AsyncIterable<T>, input: AttachMessages): AsyncGenerator<T, void, void> {
  let ended = false;
  try {
    yield* untilAborted(output, input.failed);
    ended = true;
  } finally {
    if (ended) input.end();
    else input.fail(new ServiceError('CANCELLED', 'the client disconnected'));
  }
}

/** Divides the messages of a client into its input for the process and the changes of it. */
class AttachMessages implements AttachInput {
  readonly stdin = new Inlet<AttachedInput>(MAX_STDIN_HELD);
  readonly controls = new Inlet<AttachedControl>(MAX_CONTROLS_HELD);
  readonly #failed = new AbortController();
  #ended = false;

  /** Its reason is the error that ends the call. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  /** What was not taken yet is dropped. */
  fail(error: ServiceError): void {
    this.#failed.abort(error);
    this.stdin.drop();
    this.controls.drop();
    this.end();
  }

  /** Reads the messages at the pace of the consumers until their end. Never rejects: an error fails the call. */
  async read(fields: Fields, first: Record<string, unknown>, later: AsyncIterable<unknown>): Promise<void> {
    try {
      await this.#take(first);
      for await (const message of later) {
        const read = readFields(fields, message as object, '');
        requireSame(fields, read, first);
        await this.#take(read);
        if (this.#ended) return;
      }
    } catch (error) {
      this.fail(error as ServiceError);
    } finally {
      this.end();
    }
  }

  /** The rest of the messages is not read. */
  end(): void {
    this.#ended = true;
    this.stdin.end();
    this.controls.end();
  }

  async #take(message: Record<string, unknown>): Promise<void> {
    const { stdin, end_stdin, resize, signal } = message as unknown as AttachedInput & AttachedControl;
    const size = sizeOf(resize);
    if (size || signal !== '') {
      this.controls.add({ resize: size, signal }, 1);
      await this.controls.room();
    }
    if (stdin.length > 0 || end_stdin) {
      this.stdin.add({ stdin, end_stdin }, stdin.length + MESSAGE_COST);
      await this.stdin.room();
    }
  }
}

/** The size that a message names; without one, both sides are 0. */
function sizeOf(resize: AttachedControl['resize']): AttachedControl['resize'] {
  if (resize === undefined || (resize.columns === 0 && resize.rows === 0)) return undefined;
  if (resize.columns === 0 || resize.rows === 0) throw invalidArgument('resize', 'must have columns and rows');
  return resize;
}

/** The fields that carry input, which may differ in each message. */
const INPUT: ReadonlySet<string> = new Set(['stdin', 'end_stdin', 'resize', 'signal']);

function requireSame(fields: Fields, read: Record<string, unknown>, first: Record<string, unknown>): void {
  for (const [name, kind] of Object.entries(fields)) {
    if (INPUT.has(name) || read[name] === kind.absent() || read[name] === first[name]) continue;
    throw invalidArgument(name, 'must stay empty, or the same as in the first message');
  }
}
