import type { DeniedHost, OutputStream, Process, ProcessEnd, TerminalSize } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { OutputLog } from '../../output-log/output-log.ts';
import type { CommandEvent, RunningCommand } from '../../runtime/runtime.ts';
import { SerialQueue } from '../../serial-queue.ts';
import { endOfError, endOfExit } from './process-end.ts';
import { type ProcessRecord, shownProcess } from './process-record.ts';
import { WriterSlot } from './writer-slot.ts';

export interface ProcessHost {
  sandboxId: string;
  /** Whether the sandbox was stopped or is being destroyed. */
  stopped: () => boolean;
  /** Unix time in milliseconds. */
  now: () => number;
  /** Stores the record of the ended process. False if that failed. Never rejects. */
  store: (record: ProcessRecord) => Promise<boolean>;
  /** What the sandbox's policy refused since the start; absent: nothing can be. Never rejects. */
  denied?: () => Promise<readonly DeniedHost[]>;
  /** Called once, after the end was stored. Must not throw. */
  onEnd: () => void;
}

/**
 * One process: its command, until that ends, and the log of its output. The command is read at the pace of the log, and
 * not at that of readers. Its end is visible once all output is in the log and the record is stored.
 */
export class LiveProcess {
  readonly log: OutputLog;
  readonly writer = new WriterSlot();
  /** Resolves when the end is visible. Never rejects. */
  readonly ended: Promise<void>;
  /** Whether its output is needed for an answer, so that it makes no room for others. */
  held = false;
  readonly #host: ProcessHost;
  #record: ProcessRecord;
  /** Until its end: it takes some 12 KB of memory, and thousands of processes that have ended may be kept. */
  #command: RunningCommand | undefined;
  #endLeftBehind: (() => Promise<void>) | undefined;
  readonly #abort: AbortController;
  readonly #input = new SerialQueue();
  readonly #written: Record<OutputStream, number> = { STDOUT: 0, STDERR: 0 };
  #inputNext: number;
  #inputEnded = false;
  #killed = false;
  /** Whether the record on disk has no end yet, because it could not be stored. */
  #unstored = false;
  #terminal: TerminalSize | undefined;

  /**
   * A process whose command has just started, or (`command` undefined) one that has ended. `abort` is the controller of
   * the command's signal.
   */
  constructor(
    record: ProcessRecord,
    log: OutputLog,
    host: ProcessHost,
    { command, abort = new AbortController() }: { command?: RunningCommand; abort?: AbortController } = {},
  ) {
    this.#record = record;
    this.log = log;
    this.#host = host;
    this.#command = command;
    this.#abort = abort;
    this.#inputNext = record.input_next ?? 0;
    this.#terminal = record.terminal;
    this.ended = command === undefined ? Promise.resolve() : this.#run(command);
  }

  get id(): string {
    return this.#record.process_id;
  }

  get order(): number {
    return this.#record.order;
  }

  get request(): string {
    return this.#record.request;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#record.labels;
  }

  /** undefined while it runs. */
  get end(): ProcessEnd | undefined {
    return this.#record.end;
  }

  /** Unix seconds; undefined while it runs. */
  get endedAt(): number | undefined {
    return this.#record.ended_at;
  }

  /** Bytes of output of each stream; those of a terminal count as STDOUT. */
  get written(): Readonly<Record<OutputStream, number>> {
    return this.#written;
  }

  get inputNext(): number {
    return this.#inputNext;
  }

  view(): Process {
    return shownProcess(this.#record, {
      sandboxId: this.#host.sandboxId,
      output: this.log.position,
      inputNext: this.#inputNext,
      stdinOpen: this.#record.end === undefined && this.#command?.input !== undefined && !this.#inputEnded,
      terminal: this.#terminal,
    });
  }

  /** Host pids of its processes, none after its end. */
  pids(): number[] | Promise<number[]> {
    return this.#command?.pids() ?? [];
  }

  /** Sends a signal to all its processes. Nothing happens after its end. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.end !== undefined) return;
    if (signal === 'SIGKILL') this.#killed = true;
    await this.#command?.kill(signal);
  }

  /** FAILED_PRECONDITION without a terminal. Nothing happens after its end. */
  async resize(size: TerminalSize): Promise<void> {
    if (this.#terminal === undefined) throw this.#refuse('has no terminal');
    if (this.end !== undefined) return;
    await this.#command?.resize?.(size);
    this.#terminal = size;
  }

  /**
   * Writes one piece of input at an offset (undefined: after the bytes before it), and waits until it was taken. Bytes
   * that were taken before are skipped. Calls take effect in order. `dropped`: bytes whose turn has not come when it is
   * aborted are not written, and not held any longer.
   */
  write(bytes: Uint8Array, offset: number | undefined, dropped?: AbortSignal): Promise<void> {
    let held: Uint8Array | undefined = bytes;
    const drop = () => {
      held = undefined;
    };
    if (dropped?.aborted) return Promise.resolve();
    dropped?.addEventListener('abort', drop, { once: true });
    return this.#input.run(async () => {
      dropped?.removeEventListener('abort', drop);
      const data = held;
      held = undefined;
      if (data === undefined) return;
      const at = offset ?? this.#inputNext;
      if (at > this.#inputNext) {
        throw new ServiceError('INVALID_ARGUMENT', `offset must be at most ${this.#inputNext} (input_next), not ${at}`);
      }
      const rest = data.subarray(Math.min(data.length, this.#inputNext - at));
      if (rest.length === 0) return;
      const input = this.#openInput();
      try {
        await input.write(rest);
      } catch (error) {
        // The program has closed it, and will not open it again.
        if (this.#terminal === undefined) this.#inputEnded = true;
        throw error;
      }
      this.#inputNext += rest.length;
    });
  }

  /** Closes standard input after everything written before. Idempotent. */
  endInput(): Promise<void> {
    return this.#input.run(async () => {
      if (this.#inputEnded || this.end !== undefined) return;
      this.#openInput().end();
      // A terminal continues after ^D.
      this.#inputEnded = this.#terminal === undefined;
    });
  }

  /** Ends its command and everything that it started. Resolves when the end is visible. Idempotent. */
  async kill(): Promise<void> {
    this.#abort.abort();
    await this.ended;
    await this.#endLeftBehind?.();
  }

  /** Stores its end if that failed before. Never rejects. */
  async storeAgain(): Promise<void> {
    if (this.#unstored) this.#unstored = !(await this.#host.store(this.#record));
  }

  #openInput() {
    const input = this.#command?.input;
    if (this.end !== undefined) throw this.#refuse('has ended');
    if (input === undefined) throw this.#refuse('was started without stdin and without a terminal');
    if (this.#inputEnded) throw this.#refuse('has its standard input closed');
    return input;
  }

  #refuse(problem: string): ServiceError {
    return new ServiceError('FAILED_PRECONDITION', `process ${JSON.stringify(this.id)} ${problem}`);
  }

  async #run(command: RunningCommand): Promise<void> {
    const startedAt = performance.now();
    let end: ProcessEnd;
    try {
      const exit = await this.#copyOutput(command);
      end = endOfExit(exit, this.#killed);
    } catch (error) {
      end = endOfError(error, Math.round(performance.now() - startedAt), this.#host.stopped());
    }
    await this.log.end();
    const denied = (await this.#host.denied?.()) ?? [];
    if (denied.length > 0) end = { ...end, denied: { hosts: denied } };
    const ended_at = Math.floor(this.#host.now() / 1000);
    const record = { ...this.#record, end, ended_at, input_next: this.#inputNext };
    this.#unstored = !(await this.#host.store(record));
    this.#record = record;
    this.#endLeftBehind = command.endLeftBehind;
    this.#command = undefined;
    this.#host.onEnd();
  }

  async #copyOutput(command: RunningCommand): Promise<Extract<CommandEvent, { kind: 'exit' }>> {
    for await (const event of command) {
      if (event.kind === 'exit') return event;
      const stream = this.#terminal !== undefined ? 'terminal' : event.stream === 'STDOUT' ? 'stdout' : 'stderr';
      this.#written[event.stream] += event.data.length;
      const written = this.log.append(stream, event.data);
      if (written) await written;
    }
    throw new Error('the execution ended without an exit event');
  }
}
