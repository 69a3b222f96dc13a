import { decodeThrown, encodeThrown } from './thread-messages.ts';

/** An object whose methods all are asynchronous, so that they may be called from another thread. */
type Served = object;

interface Closing {
  close(): Promise<void>;
}

/** An answer that is an object, of which the caller calls `close` at the end. */
export class Opened<T extends Closing, About = undefined> {
  readonly remote: T;
  readonly about: About;

  constructor(remote: T, about: About) {
    this.remote = remote;
    this.about = about;
  }
}

type Message =
  | { call: number; of: number; method: string; args: readonly unknown[] }
  | { answer: number; value: unknown }
  | { answer: number; opened: number; about: unknown }
  | { answer: number; error: ReturnType<typeof encodeThrown> };

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The object that an end serves to the other one from the start. */
const ROOT = 0;

/**
 * One end of a connection of two threads. Each serves an object to the other, and what its methods open. Calls may be many at
 * once; those of one object begin in the order in which they are made.
 */
export class Calls {
  readonly #post: (message: unknown) => void;
  readonly #served = new Map<number, Served>();
  readonly #pending = new Map<number, Pending>();
  #last = ROOT;
  #ended: Error | undefined;

  /** The caller passes what comes from the other end to `receive`. */
  constructor(post: (message: unknown) => void, root: Served) {
    this.#post = post;
    this.#served.set(ROOT, root);
  }

  /** Of the other end. */
  get root(): object {
    return this.#remote(ROOT);
  }

  /** Whether no call of the other end's objects is in progress. */
  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  receive(received: unknown): void {
    const message = received as Message;
    if ('call' in message) return void this.#serve(message);
    const pending = this.#pending.get(message.answer);
    this.#pending.delete(message.answer);
    if ('error' in message) pending?.reject(decodeThrown(message.error));
    else if ('opened' in message) pending?.resolve(new Opened(this.#remote<Closing>(message.opened), message.about));
    else pending?.resolve(message.value);
  }

  /** There is no other end any more: what it was asked, and will be, is rejected. */
  end(error: Error): void {
    this.#ended = error;
    this.#served.clear();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #remote<T extends object>(of: number): T {
    const get = (_: object, method: string | symbol) =>
      // Not a promise itself.
      method === 'then' ? undefined : (...args: readonly unknown[]) => this.#call(of, String(method), args);
    return new Proxy({}, { get }) as T;
  }

  #call(of: number, method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const call = ++this.#last;
      // Before it is noted: this throws for an argument that cannot be cloned.
      this.#post({ call, of, method, args } satisfies Message);
      this.#pending.set(call, { resolve, reject });
    });
  }

  async #serve({ call, of, method, args }: Extract<Message, { call: number }>): Promise<void> {
    const object = this.#served.get(of);
    if (of !== ROOT && method === 'close') this.#served.delete(of);
    try {
      const run = object?.[method as keyof Served] as unknown as (...args: readonly unknown[]) => Promise<unknown>;
      const value = await run.apply(object, [...args]);
      if (this.#ended !== undefined) return;
      if (!(value instanceof Opened)) return this.#post({ answer: call, value } satisfies Message);
      const opened = ++this.#last;
      this.#served.set(opened, value.remote);
      this.#post({ answer: call, opened, about: value.about } satisfies Message);
    } catch (error) {
      if (this.#ended === undefined) this.#post({ answer: call, error: encodeThrown(error) } satisfies Message);
    }
  }
}
