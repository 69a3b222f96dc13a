import { fromWire } from '../contract/wire.ts';
import { PaddockError } from '../errors.ts';
import type { Body, CallOptions, Row, Settings } from './call.ts';
import { connectionError, errorOfAnswer } from './error-of.ts';
import { encode, isRepeatable, sendable } from './request.ts';
import { repeated } from './retry.ts';

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
  readonly settings: Settings & { url: string };

  constructor(settings: Settings & { url: string }) {
    this.settings = settings;
  }

  get maxRetries(): number {
    return this.settings.maxRetries ?? RETRIES;
  }

  /** The answer as a message. */
  json(call: Call): Promise<unknown> {
    return this.#answer(call, async (answer) => {
      const value = fromWire(JSON.parse(await answer.text()));
      return call.row.empty ? undefined : value;
    });
  }

  /** The answer, once its head has arrived. */
  open(call: Call): Promise<Response> {
    return this.#answer(call, async (answer) => answer);
  }

  #answer<T>(call: Call, read: (answer: Response) => Promise<T>): Promise<T> {
    const { row, request, body, options } = call;
    const { target, json } = encode(row, request);
    const headers = this.#headers(row, options, json !== undefined);
    const attempt = async () => {
      options.signal?.throwIfAborted();
      const content = body === undefined ? json : await sendable(body);
      return this.#attempt(call, `${this.settings.url}${target}`, { headers, content }, read);
    };
    return repeated(attempt, {
      row,
      maxRetries: this.maxRetries,
      again: isRepeatable(body),
      repeatable: options.repeatable ?? false,
      signal: options.signal,
    });
  }

  async #attempt<T>(
    { operation, row, options }: Call,
    url: string,
    {
      headers,
      content,
    }: { headers: Record<string, string>; content: Awaited<ReturnType<typeof sendable>> | undefined },
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const send = this.settings.fetch ?? fetch;
    try {
      const answer = await send(url, {
        method: row.method,
        headers,
        ...(options.signal && { signal: options.signal }),
        ...(content !== undefined && { body: content as NonNullable<RequestInit['body']> }),
        ...(content instanceof ReadableStream && { duplex: 'half' }),
      });
      if (!answer.ok) throw await errorOfAnswer(answer, operation);
      return await read(answer);
    } catch (thrown) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (thrown instanceof PaddockError) throw thrown;
      throw connectionError(thrown, this.settings.url, operation);
    }
  }

  #headers(row: Row, options: CallOptions, isJson: boolean): Record<string, string> {
    const { key, headers } = this.settings;
    return {
      ...(isJson && { 'content-type': 'application/json' }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(row.retry === 'key' && { 'idempotency-key': options.idempotencyKey ?? randomId() }),
      ...headers,
      ...options.headers,
    };
  }
}

/** 32 hexadecimal digits. */
export function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
