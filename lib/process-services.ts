import type {
  AttachProcessRequest,
  ExecRequest,
  ListProcessesRequest,
  OutputStream,
  Process,
  ProcessEnd,
  ProcessEvent,
  ReadProcessOutputRequest,
  ReadProcessOutputResponse,
  StartProcessRequest,
  TerminalSize,
  WaitPortRequest,
  WaitPortResponse,
  WatchProcessRequest,
  WriteProcessInputRequest,
} from './contract/messages.ts';
import type { ServiceError } from './errors.ts';

export type NewProcess = Omit<StartProcessRequest, 'terminal'> & { terminal: TerminalSize | undefined };

/** What a command with `yield_after` has come to. */
export interface YieldedExec {
  processId: string;
  /** undefined: it goes on as a process. */
  end: ProcessEnd | undefined;
}

/** A piece of the output that a process keeps, or (`data` undefined) bytes of a stream that are no longer kept. */
export interface KeptOutput {
  stream: OutputStream;
  data?: Buffer;
  missing: number;
}

/** Input from a caller that is attached to a process. */
export interface AttachedInput {
  stdin: Uint8Array;
  /** The standard input ends after these bytes. */
  end_stdin: boolean;
}

/** What an attached caller changes beside the input. */
export interface AttachedControl {
  resize: TerminalSize | undefined;
  signal: NodeJS.Signals | '';
}

/**
 * What the caller of an attached process sends. Both iterables end when the caller sends no more, or has left; neither
 * throws. They must be consumed beside the output, each at its own pace: a size or a signal does not wait for standard
 * input that the process does not read.
 */
export interface AttachInput {
  readonly stdin: AsyncIterable<AttachedInput>;
  readonly controls: AsyncIterable<AttachedControl>;
  /** Ends the call with an error. */
  fail(error: ServiceError): void;
  /** Aborted when the call ends with an error, for example that of `fail`. */
  readonly failed: AbortSignal;
}

export type AttachRequest = Pick<AttachProcessRequest, 'sandbox_id' | 'process_id' | 'offset' | 'takeover'>;

/**
 * Processes in sandboxes. A process belongs to its sandbox in any state, and is removed with it. Errors are
 * ServiceErrors with the codes of the contract.
 */
export interface Processes {
  /**
   * It runs when the call resolves, and its record survives a restart of the server. `keep` is called once it is certain
   * that the process is a new one; the function that it returns, at its end.
   */
  start(request: NewProcess, signal: AbortSignal, keep: () => () => void): Promise<Process>;
  get(sandboxId: string, id: string): Promise<Process>;
  /** The newest first. */
  list(request: ListProcessesRequest): Promise<{ processes: Process[]; next_page_token: string }>;
  /** Nothing that it started is left when the call resolves. */
  delete(sandboxId: string, id: string): Promise<void>;
  signal(sandboxId: string, id: string, signal: NodeJS.Signals): Promise<Process>;
  resize(sandboxId: string, id: string, size: TerminalSize): Promise<void>;
  read(request: ReadProcessOutputRequest, signal: AbortSignal): Promise<ReadProcessOutputResponse>;
  /** The last event has the end. Leaving the loop does not affect the process. */
  watch(request: WatchProcessRequest, signal: AbortSignal): Promise<AsyncIterable<ProcessEvent>>;
  /** Like `watch`, after an event with `attached`. The output must be read, or its first event and then be closed. */
  attach(request: AttachRequest, input: AttachInput): Promise<AsyncIterable<ProcessEvent>>;
  /**
   * Writes at the pace of the process. If `content` throws, or the signal aborts, what was taken stays taken, and at most
   * one piece of 64 KiB of a call may still be written.
   */
  write(
    request: Omit<WriteProcessInputRequest, 'chunk'>,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<{ input_next: number }>;
  /**
   * Runs a command as a process, and resolves after its end, or `yield_after` milliseconds after its start, once `take`
   * got its output so far, in order, and last what is missing of each stream. A process that has ended is removed. An abort of `signal` before that ends the
   * command: CANCELLED. `keep` as in `start`.
   */
  execOrYield(
    request: ExecRequest,
    signal: AbortSignal,
    keep: () => () => void,
    take: (output: KeptOutput) => void,
  ): Promise<YieldedExec>;
  /** The ports on which programs of a running sandbox listen; waits for one if there is none. */
  waitPort(request: WaitPortRequest, signal: AbortSignal): Promise<WaitPortResponse>;
}
