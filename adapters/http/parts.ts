import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { ServiceError } from '../../lib/errors.ts';
import { BODY_IDLE_MS } from './body.ts';

export type Part =
  | { kind: 'field'; name: string; value: string }
  | { kind: 'file'; name: string; filename: string; stream: Readable }
  | { kind: 'end' };

/** Maximum bytes of a field; a path has at most 4096. */
const MAX_FIELD_BYTES = 8 * 1024;
const MAX_PARTS = 20_000;
/** Parts that wait to be consumed; more of the body is read when none waits. */
const MAX_WAITING = 64;

/**
 * The parts of a multipart body, in order. A file's stream must be read to its end before the next part is available.
 * `discard` reads and drops the rest of the body, so that an early response arrives.
 */
export class Parts {
  readonly #queue: Part[] = [];
  readonly #parser: busboy.Busboy;
  readonly #req: IncomingMessage;
  #error: ServiceError | undefined;
  #wake: () => void = () => {};
  #paused = false;

  constructor(req: IncomingMessage) {
    this.#req = req;
    this.#parser = parserFor(req);
    this.#parser
      .on('field', (name, value, { nameTruncated, valueTruncated }) => {
        if (nameTruncated || valueTruncated) this.#fail(`a field must be at most ${MAX_FIELD_BYTES} bytes`);
        else this.#push({ kind: 'field', name, value });
      })
      .on('file', (name, stream, { filename }) => {
        // The parser reports the same error. Without this listener an error before the first read would end the
        // process.
        stream.on('error', () => {});
        this.#push({ kind: 'file', name, filename: filename ?? '', stream });
      })
      .on('partsLimit', () => this.#fail(`a form must have at most ${MAX_PARTS} parts`))
      .on('error', (error) => this.#fail(`the multipart body is not valid: ${(error as Error).message}`))
      .on('close', () => this.#push({ kind: 'end' }));
    req.once('error', () => {
      this.#error ??= new ServiceError('CANCELLED', 'the upload was cut short');
      this.#parser.destroy();
      this.#wake();
    });
    // Only while data is awaited: to store thousands of small files may take longer.
    req.setTimeout(BODY_IDLE_MS);
    req.once('end', () => req.setTimeout(0));
    req.pipe(this.#parser);
  }

  async next(): Promise<Part> {
    while (this.#queue.length === 0 && !this.#error) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#error) throw this.#error;
    const part = this.#queue.shift()!;
    if (this.#paused && this.#queue.length === 0) {
      this.#paused = false;
      this.#req.pipe(this.#parser);
    }
    return part;
  }

  /** The error that ended a file's stream. */
  get error(): ServiceError {
    return this.#error ?? new ServiceError('CANCELLED', 'the upload was cut short');
  }

  discard(): void {
    this.#req.unpipe(this.#parser);
    this.#parser.destroy();
    this.#req.resume();
  }

  #push(part: Part): void {
    this.#queue.push(part);
    if (this.#queue.length > MAX_WAITING && !this.#paused) {
      this.#paused = true;
      this.#req.unpipe(this.#parser);
    }
    this.#wake();
  }

  #fail(message: string): void {
    this.#error ??= new ServiceError('INVALID_ARGUMENT', message);
    this.#wake();
  }
}

function parserFor(req: IncomingMessage): busboy.Busboy {
  if (!/^multipart\/form-data\s*;/i.test(req.headers['content-type'] ?? '')) {
    throw new ServiceError('INVALID_ARGUMENT', 'content-type must be multipart/form-data with a boundary');
  }
  try {
    return busboy({
      headers: req.headers,
      preservePath: true,
      defParamCharset: 'utf8',
      limits: { fieldSize: MAX_FIELD_BYTES, parts: MAX_PARTS, headerPairs: 100 },
    });
  } catch (error) {
    throw new ServiceError('INVALID_ARGUMENT', `the multipart header is not valid: ${(error as Error).message}`);
  }
}
