import type { Api } from './api.ts';
import { type Attachment, type AttachOptions, attach } from './attach.ts';
import type { Command } from './commands/options.ts';
import type { ListeningPort, ProcessEnd, Process as ProcessInfo, StartProcessRequest } from './contract/messages.ts';
import { asyncDispose, removed } from './dispose.ts';
import { secondsOf } from './duration.ts';
import { ConnectionFailedError, RequestTimeoutError } from './errors.ts';
import { apart } from './http/arguments.ts';
import type { CallOptions } from './http/call.ts';
import { randomId } from './http/transport.ts';
import { invalid } from './invalid.ts';
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
  | { readonly type: 'gap'; readonly missing: number; readonly next: number };

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

export interface OutputOptions extends CallOptions {
  /** Byte of the whole output to start at; 0: the beginning. */
  offset?: number | undefined;
}

export interface StartOptions extends Omit<StartProcessRequest, OfProcess>, Omit<CallOptions, 'timeout'> {
  /** Id of the process, unique in the sandbox; otherwise a random one. */
  id?: string | undefined;
  /** Give it a terminal of this size. */
  terminal?: { columns: number; rows: number } | undefined;
}
type OfProcess = 'sandboxId' | 'processId' | 'command' | 'argv' | 'terminal';

/** A process of a sandbox, which goes on without this program. `await using` deletes it. */
export class Process {
  readonly sandboxId: string;
  readonly id: string;
  /** The process when it was started or last read; `refresh` reads it again. */
  info: ProcessInfo;
  readonly #api: Api;
  /** Writes one after the other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(api: Api, info: ProcessInfo) {
    this.#api = api;
    this.info = info;
    this.sandboxId = info.sandboxId;
    this.id = info.processId;
  }

  /** Its id makes the call repeatable: the same request starts nothing twice. */
  static async start(api: Api, sandboxId: string, command: Command, options: StartOptions = {}): Promise<Process> {
    const [{ id = `p-${randomId().slice(0, 12)}` }, rest] = apart(options, { id: 'string' });
    const request = { sandboxId, processId: id, command: command as string, argv: undefined };
    return new Process(api, await api.startProcess(request, { ...rest, repeatable: true } as CallOptions));
  }

  get #ids(): { sandboxId: string; processId: string } {
    return { sandboxId: this.sandboxId, processId: this.id };
  }

  /** Reads the process again. */
  async refresh(options?: CallOptions): Promise<ProcessInfo> {
    this.info = await this.#api.getProcess(this.#ids, options);
    return this.info;
  }

  /** The output from an offset on, until the process ends. It goes on by itself after a lost connection. */
  async *output(options: OutputOptions = {}): AsyncGenerator<ProcessOutput, void, void> {
    const [{ offset = 0 }, call] = apart(options, { offset: 'integer 0' });
    const decoders = new Map<Part['type'], InstanceType<typeof TextDecoder>>();
    for await (const event of this.#api.watchProcess({ ...this.#ids, offset }, call)) {
      // A character that a gap or the end has cut.
      if (event.gap > 0 || event.end !== undefined) yield* rests(decoders, event.next - event.gap);
      if (event.gap > 0) yield { type: 'gap', missing: event.gap, next: event.next };
      else if (event.data?.length > 0) {
        const type = event.stream as Part['type'];
        const decoder = decoders.get(type) ?? new TextDecoder();
        decoders.set(type, decoder);
        yield { type, data: event.data, text: decoder.decode(event.data, { stream: true }), next: event.next };
      }
    }
  }

  /**
   * Waits for the end. An exit code other than 0 is a result. `timeout`: time in all, then RequestTimeoutError; the process
   * goes on. Without one the wait has no limit.
   */
  async wait(options: CallOptions = {}): Promise<ProcessEnd> {
    const [{ timeout }, call] = apart(options, { timeout: 'duration' });
    const limit = timeout === undefined ? undefined : AbortSignal.timeout(secondsOf('timeout', timeout) * 1000);
    // Of a process that runs, only the end is of interest.
    const { outputNext, end } = await this.refresh(call);
    if (end !== undefined) return end;
    const within = { ...call, signal: AbortSignal.any([call.signal, limit].filter((each) => each !== undefined)) };
    try {
      for await (const event of this.#api.watchProcess({ ...this.#ids, offset: outputNext }, within)) {
        if (event.end !== undefined) return event.end;
      }
    } catch (error) {
      if (!limit?.aborted || call.signal?.aborted) throw error;
      throw new RequestTimeoutError({ message: `process ${this.id} has not ended within ${timeout}` });
    }
    throw new ConnectionFailedError({ message: 'the stream of the process ended without its end' });
  }

  /**
   * Writes to standard input, at the pace at which the process reads. Needs `stdin: true`, or a terminal. Throws
   * ConnectionFailedError if the answer is lost: `refresh` tells `inputNext`, which says how much was taken in all.
   */
  async write(content: string | Uint8Array, options?: CallOptions): Promise<void> {
    if (typeof content !== 'string' && !((content as unknown) instanceof Uint8Array))
      throw invalid('content must be text or bytes');
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    return this.#input(bytes, false, options);
  }

  closeStdin(options?: CallOptions): Promise<void> {
    return this.#input(new Uint8Array(0), true, options);
  }

  /**
   * Appends. With an offset a lost write could be repeated, but of two writers that send the same offset the server
   * would skip the bytes of one, and answer success.
   */
  #input(bytes: Uint8Array, end: boolean, options?: CallOptions): Promise<void> {
    const written = this.#writing.then(async () => {
      options?.signal?.throwIfAborted();
      await this.#api.writeProcessInput({ ...this.#ids, end }, bytes, options);
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /** Sends a signal to the process and everything that it started. */
  async signal(name = 'SIGTERM', options?: CallOptions): Promise<void> {
    this.info = await this.#api.signalProcess({ ...this.#ids, signal: name }, options);
  }

  kill(options?: CallOptions): Promise<void> {
    return this.signal('SIGKILL', options);
  }

  resize(columns: number, rows: number, options?: CallOptions): Promise<void> {
    return this.#api.resizeTerminal({ ...this.#ids, columns, rows }, options);
  }

  /** Ends the process and forgets it and its output. Does nothing if it is gone. */
  delete(options?: CallOptions): Promise<void> {
    return removed(this.#api.deleteProcess(this.#ids, options));
  }

  [asyncDispose](): Promise<void> {
    return this.delete();
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
