import { VERSION } from '../contract/operations.ts';
import { fromWire } from '../contract/wire.ts';
import { invalid } from '../invalid.ts';
import type { Body, CallOptions, Row, Settings } from './call.ts';
import { errorOfAnswer, failureOf, timeoutError } from './error-of.ts';
import { ContentError, encode, isRepeatable, requireContent, type Sent, sendable } from './request.ts';
import { repeated } from './retry.ts';
import { Silence } from './silence.ts';

const RETRIES = 3;

export interface Call {
  /** Name of the operation in errors. */
  operation: string;
  row: Row;
  request: Readonly<Record<string, unknown>>;
  body?: Body | undefined;
  options: CallOptions;
}

/** Sends calls to one server, and repeats those that may be repeated. */
export class Transport {
  /** Private, because it has the key. */
  readonly #settings: Settings & { url: string };

  constructor(settings: Settings & { url: string }) {
    this.#settings = settings;
  }

  get url(): string {
    return this.#settings.url;
  }

  retriesOf({ maxRetries }: CallOptions): number {
    return maxRetries ?? this.#settings.maxRetries ?? RETRIES;
  }

  /** The answer as a message. */
  json(call: Call): Promise<unknown> {
    return this.#answered(call, async (answer) => {
      const value = fromWire(JSON.parse(await answer.text()));
      return call.row.empty ? undefined : value;
    });
  }

  /** The answer, once its head has arrived. */
  open(call: Call): Promise<Response> {
    return this.#answered(call, async (answer) => answer);
  }

  /** The same. Its body fails with the errors of this package, or is there already: `whole`. */
  answer(call: Call): Promise<Response> {
    const { operation, options } = call;
    return this.#answered(call, async (answer) => {
      if (options.whole) return copyOf(answer, await answer.arrayBuffer());
      if (answer.body === null) return answer;
      const failed = (thrown: unknown) => failureOf(thrown, { url: this.url, operation, signal: options.signal });
      return copyOf(answer, bodyWith(answer.body as ReadableStream<Uint8Array>, failed));
    });
  }

  async #answered<T>(call: Call, read: (answer: Response) => Promise<T>): Promise<T> {
    const { row, request, body, options } = call;
    if (row.kind === 'raw') requireContent(body);
    const { target, json } = encode(row, request);
    const headers = this.#headers(row, options, json !== undefined);
    const attempt = async () => {
      options.signal?.throwIfAborted();
      const sent = body === undefined ? { content: json } : await sendable(body);
      return this.#attempt(call, target, { headers, sent }, read);
    };
    try {
      return await repeated(attempt, {
        row,
        maxRetries: this.retriesOf(options),
        again: isRepeatable(body),
        repeatable: options.repeatable ?? false,
        signal: options.signal,
      });
    } catch (error) {
      throw error instanceof ContentError ? error.error : error;
    }
  }

  async #attempt<T>(
    call: Call,
    target: string,
    { headers, sent }: { headers: Headers; sent: Sent },
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const send = this.#settings.fetch ?? fetch;
    const { operation, row, options } = call;
    const { content } = sent;
    const url = `${this.url}${target}`;
    const silence = Silence.of(call, this.#settings.timeout);
    const signal = silence?.signal ?? options.signal;
    try {
      const sending = send(url, {
        method: row.method,
        headers,
        ...(signal && { signal }),
        ...(content !== undefined && { body: content as NonNullable<RequestInit['body']> }),
        ...(content instanceof ReadableStream && { duplex: 'half' }),
      });
      const answer = silence ? this.#watched(await silence.during(sending), silence, operation) : await sending;
      if (!answer.ok) throw await errorOfAnswer(answer, { operation, url });
      return await read(answer);
    } catch (thrown) {
      // The content broke off, and with it the connection.
      if (sent.failed && !options.signal?.aborted) throw sent.failed;
      const ended = { url: this.url, operation, signal: options.signal };
      throw failureOf(silence?.isOver ? timeoutError(this.url, operation) : thrown, ended);
    }
  }

  /** The answer, whose body fails if nothing of it comes for the time. */
  #watched(answer: Response, silence: Silence, operation: string): Response {
    if (answer.body === null) return answer;
    const failed = (thrown: unknown) => (silence.isOver ? timeoutError(this.url, operation) : thrown);
    const body = answer.body as ReadableStream<Uint8Array>;
    return copyOf(
      answer,
      bodyWith(body, failed, (bytes) => silence.during(bytes)),
    );
  }

  /** Names in any case: the last value of each. */
  #headers(row: Row, options: CallOptions, isJson: boolean): Headers {
    const { key, headers } = this.#settings;
    const all = new Headers();
    all.set('user-agent', `paddock-sandbox/${VERSION} typescript`);
    if (isJson) all.set('content-type', 'application/json');
    if (key !== undefined) all.set('authorization', `Bearer ${key}`);
    if (row.retry === 'key') put(all, 'idempotency-key', options.idempotencyKey ?? randomId());
    for (const [name, value] of Object.entries({ ...headers, ...options.headers })) put(all, name, value);
    return all;
  }
}

/** The runtime's own error quotes the value, which may be a credential. */
function put(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw invalid(`headers: ${JSON.stringify(name)} must be the name of a header, and its value one line of Latin-1`);
  }
}

const copyOf = ({ status, statusText, headers }: Response, body: ArrayBuffer | ReadableStream<Uint8Array>): Response =>
  new Response(body as ConstructorParameters<typeof Response>[0], { status, statusText, headers });

function bodyWith(
  body: ReadableStream<Uint8Array>,
  errorOf: (thrown: unknown) => unknown,
  during: <T>(bytes: Promise<T>) => Promise<T> = (bytes) => bytes,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await during(reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (thrown) {
          throw errorOf(thrown);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** 32 hexadecimal digits. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
