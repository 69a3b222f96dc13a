import type { Api } from './api.ts';
import { type Attachment, type AttachOptions, attach } from './attach.ts';
import type { ListeningPort, ProcessEnd, Process as ProcessInfo } from './contract/messages.ts';
import { ConnectionFailedError } from './errors.ts';
import { type WaitPortOptions, waitPort } from './ports.ts';

/** A part of the output of a process, or bytes of it that are no longer kept. */
export type ProcessOutput =
  | {
      readonly type: 'stdout' | 'stderr' | 'terminal';
      readonly data: Uint8Array;
      readonly text: string;
      /** Offset after this part: a reader that starts there goes on with the next one. */
      readonly next: number;
    }
  | { readonly type: 'gap'; readonly bytes: number; readonly next: number };

type Part = Exclude<ProcessOutput, { type: 'gap' }>;

/** What the decoders of the streams hold back, and forget. */
function* rests(
  decoders: ReadonlyMap<Part['type'], InstanceType<typeof TextDecoder>>,
  next: number,
): Generator<Part, void, void> {
  for (const [type, decoder] of decoders) {
    const text = decoder.decode();
    if (text !== '') yield { type, data: new Uint8Array(0), text, next };
  }
}

export interface OutputOptions {
  /** Byte of the whole output to start at; 0: the beginning. */
  offset?: number | undefined;
  signal?: AbortSignal | undefined;
}

interface Signal {
  signal?: AbortSignal | undefined;
}

/** A process of a sandbox, which goes on without this program. */
export class Process {
  readonly sandboxId: string;
  readonly id: string;
  readonly #api: Api;
  /** Writes one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(api: Api, sandboxId: string, id: string) {
    this.#api = api;
    this.sandboxId = sandboxId;
    this.id = id;
  }

  get #ids(): { sandboxId: string; processId: string } {
    return { sandboxId: this.sandboxId, processId: this.id };
  }

  info(options: Signal = {}): Promise<ProcessInfo> {
    return this.#api.getProcess(this.#ids, options);
  }

  /** The output from an offset on, until the process ends. It goes on by itself after a lost connection. */
  async *output({ offset = 0, signal }: OutputOptions = {}): AsyncGenerator<ProcessOutput, void, void> {
    const decoders = new Map<Part['type'], InstanceType<typeof TextDecoder>>();
    for await (const event of this.#api.watchProcess({ ...this.#ids, offset }, { signal })) {
      // A character that a gap or the end has cut.
      if (event.gap > 0 || event.end !== undefined) yield* rests(decoders, event.next - event.gap);
      if (event.gap > 0) yield { type: 'gap', bytes: event.gap, next: event.next };
      else if (event.data?.length > 0) {
        const type = event.stream as Part['type'];
        const decoder = decoders.get(type) ?? new TextDecoder();
        decoders.set(type, decoder);
        yield { type, data: event.data, text: decoder.decode(event.data, { stream: true }), next: event.next };
      }
    }
  }

  /** Waits for the end. An exit code other than 0 is a result. */
  async wait({ signal }: Signal = {}): Promise<ProcessEnd> {
    // Of a process that runs, only the end is of interest.
    const { outputNext, end } = await this.info({ signal });
    if (end !== undefined) return end;
    for await (const event of this.#api.watchProcess({ ...this.#ids, offset: outputNext }, { signal })) {
      if (event.end !== undefined) return event.end;
    }
    throw new ConnectionFailedError({ message: 'the stream of the process ended without its end' });
  }

  /**
   * Writes to standard input, at the pace at which the process reads. Needs `stdin: true`, or a terminal. Throws
   * ConnectionFailedError if the answer is lost: `info().inputNext` says how much was taken in all.
   */
  write(input: string | Uint8Array, options: Signal = {}): Promise<void> {
    const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input;
    return this.#input(bytes, false, options);
  }

  closeStdin(options: Signal = {}): Promise<void> {
    return this.#input(new Uint8Array(0), true, options);
  }

  /**
   * Appends. With an offset a lost write could be repeated, but of two writers that send the same offset the server
   * would skip the bytes of one, and answer success.
   */
  #input(bytes: Uint8Array, end: boolean, options: Signal): Promise<void> {
    const written = this.#writing.then(async () => {
      options.signal?.throwIfAborted();
      await this.#api.writeProcessInput({ ...this.#ids, end }, bytes, options);
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** Sends a signal to the process and everything that it started, for example "SIGINT". */
  async signal(name: string, options: Signal = {}): Promise<void> {
    await this.#api.signalProcess({ ...this.#ids, signal: name }, options);
  }

  kill(options: Signal = {}): Promise<void> {
    return this.signal('SIGKILL', options);
  }

  async resize(columns: number, rows: number, options: Signal = {}): Promise<void> {
    await this.#api.resizeTerminal({ ...this.#ids, columns, rows }, options);
  }

  /** Ends the process and forgets it and its output. */
  async delete(options: Signal = {}): Promise<void> {
    await this.#api.deleteProcess(this.#ids, options);
  }

  /** Waits until a program of the sandbox listens on the port. Throws CommandTimeoutError. */
  waitForPort(port: number, options: WaitPortOptions = {}): Promise<ListeningPort> {
    return waitPort(this.#api, this.sandboxId, port, options);
  }

  /** Input and output over one WebSocket, with little delay: for terminals. */
  attach(options: AttachOptions = {}): Promise<Attachment> {
    return attach(this.#api, this.#ids, options);
  }
}
