import type {
  ExecRequest,
  ListProcessesRequest,
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

export type NewProcess = Omit<StartProcessRequest, 'terminal'> & { terminal: TerminalSize | undefined };

/** What a command with `yield_after` has come to. */
export interface YieldedExec {
  processId: string;
  /** undefined: it goes on as a process. */
  end: ProcessEnd | undefined;
  /** The kept output so far; `gap`: bytes before the pieces that are no longer kept. */
  output: AsyncIterable<{ gap: number; pieces: readonly { stream: string; data: Buffer }[] }>;
  /** Removes the process. */
  remove(): Promise<void>;
}

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
  /** Writes at the pace of the process. If `content` throws, what was taken stays taken. */
  write(
    request: Omit<WriteProcessInputRequest, 'chunk'>,
    content: AsyncIterable<Uint8Array>,
  ): Promise<{ input_next: number }>;
  /**
   * Runs a command as a process, and resolves at its end, or `yield_after` milliseconds after its start. The caller
   * removes a process that has ended. An abort of `signal` before that ends the command: CANCELLED. `keep` as in `start`.
   */
  execOrYield(request: ExecRequest, signal: AbortSignal, keep: () => () => void): Promise<YieldedExec>;
  /** The ports on which programs of a running sandbox listen; waits for one if there is none. */
  waitPort(request: WaitPortRequest, signal: AbortSignal): Promise<WaitPortResponse>;
}
