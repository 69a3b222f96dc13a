import { sentenceOf } from '../command-line/errors.ts';
import { errorMessage, headersOf, type Message, readMessage, versionOf } from './message.ts';
import { eventsOf } from './sse.ts';

interface Target {
  /** Address of the server's MCP. */
  url: string;
  key: string | undefined;
}

/** Code of JSON-RPC for errors of the server, and of the way to it. */
const FAILED = -32_000;

/**
 * Forwards the messages of a client at standard input to a server over HTTP, and its answers to standard output. Requests
 * run side by side. A cancelled one is closed, which ends its command. One for clients of all revisions: each message says
 * which it is of, or `initialize` did.
 */
export class Bridge {
  readonly #target: Target;
  readonly #write: (message: object) => void;
  readonly #running = new Map<unknown, AbortController>();
  readonly #calls = new Set<Promise<void>>();
  /** Processes that went on when their command was answered. */
  readonly processes = new Set<string>();
  /** What `initialize` agreed on. */
  #version = '';
  #session: string | undefined;

  constructor(target: Target, write: (message: object) => void) {
    this.#target = target;
    this.#write = write;
  }

  /** Takes a line of the client. Does not wait for its answer. */
  take(line: string): void {
    if (line.trim() === '') return;
    const read = readMessage(line);
    if ('refusal' in read) {
      this.#write(read.refusal);
      return;
    }
    const { message } = read;
    if (message.method === 'notifications/cancelled') {
      this.#running.get(message.params?.requestId)?.abort();
      return;
    }
    // Answers to requests of a server, which this one has not.
    if (message.method === undefined) return;
    const call = this.#forward(message).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  /** Resolves when all requests are answered. */
  async answered(): Promise<void> {
    await Promise.all(this.#calls);
  }

  /** Ends the requests in progress and their commands, without an answer. */
  async close(): Promise<void> {
    for (const call of this.#running.values()) call.abort();
    await this.answered();
  }

  async #forward(message: Message): Promise<void> {
    const { id } = message;
    const abort = new AbortController();
    if (id !== undefined) this.#running.set(id, abort);
    try {
      const answered = await this.#post(message, abort.signal);
      if (id !== undefined && !answered) this.#write(errorMessage(id, FAILED, 'the server did not answer'));
    } catch (error) {
      // A cancelled request has no answer.
      if (id !== undefined && !abort.signal.aborted) this.#write(errorMessage(id, FAILED, reasonOf(error)));
    } finally {
      if (this.#running.get(id) === abort) this.#running.delete(id);
    }
  }

  /** False if the server has not answered the message. */
  async #post(message: Message, signal: AbortSignal): Promise<boolean> {
    const { url, key } = this.#target;
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...this.#headersOf(message),
      },
      body: JSON.stringify(message),
      signal,
    });
    this.#session = response.headers.get('mcp-session-id') ?? this.#session;
    let answered = false;
    const pass = (text: string) => {
      const answer = JSON.parse(text) as Message;
      if (answer.id === message.id) answered = true;
      this.#note(message, answer);
      this.#write(answer);
    };
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') && response.body !== null) {
      for await (const data of eventsOf(response.body)) pass(data);
      return answered;
    }
    const text = await response.text();
    if (message.id === undefined || text === '') return false;
    const parsed = JSON.parse(text);
    if (parsed.jsonrpc === '2.0') pass(JSON.stringify({ ...parsed, id: parsed.id ?? message.id }));
    // A refusal of the server before it looks at the message.
    else this.#write(errorMessage(message.id, FAILED, parsed.message ?? `status ${response.status}`));
    return true;
  }

  #headersOf(message: Message): Record<string, string> {
    const version = versionOf(message);
    if (version !== undefined) return headersOf(message, version);
    return {
      ...(this.#version !== '' && { 'mcp-protocol-version': this.#version }),
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
    };
  }

  #note({ method, params }: Message, { result }: Message): void {
    if (method === 'initialize' && typeof result?.protocolVersion === 'string') this.#version = result.protocolVersion;
    if (method !== 'tools/call' || !['exec', 'process'].includes(String(params?.name))) return;
    const { process_id, running } = result?.structuredContent ?? {};
    if (typeof process_id !== 'string') return;
    if (running === true) this.processes.add(process_id);
    else this.processes.delete(process_id);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `the server cannot be reached: ${sentenceOf(cause)}`;
}
