import { constants } from 'node:os';
import { ServiceError } from '../../errors.ts';
import { EventQueue } from '../executor/execution.ts';
import type { Command, CommandEvent, CommandInput, RunningCommand } from '../runtime.ts';

const MAX_TIMER_MS = 2_147_483_647;

/** What a command of the mock runtime does: all output at once, then its end. */
export interface MockResult {
  stdout: string | Uint8Array;
  stderr: string;
  exitCode: number;
  /** Infinity: until it is ended from outside. */
  sleepMs: number;
}

/** A command without a process. */
export class MockCommand implements RunningCommand {
  readonly input: CommandInput | undefined;
  readonly #events: EventQueue;
  readonly #startedAt = performance.now();
  readonly #command: Command;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onEnd: (command: MockCommand) => void;
  readonly #cancel = () => this.fail(new ServiceError('CANCELLED', 'the command was cancelled'));
  #ended = false;

  constructor(command: Command, result: MockResult, onEnd: (command: MockCommand) => void) {
    this.#command = command;
    this.#onEnd = onEnd;
    this.#events = new EventQueue(() => {}, this.#cancel);
    this.input = command.openStdin ? this.#cat() : undefined;
    command.signal.addEventListener('abort', this.#cancel, { once: true });
    this.#events.write('STDOUT', Buffer.from(result.stdout));
    this.#events.write('STDERR', Buffer.from(result.stderr));
    this.#timer = this.#schedule(result);
  }

  [Symbol.asyncIterator](): AsyncIterator<CommandEvent> {
    return this.#events;
  }

  get ended(): boolean {
    return this.#ended;
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    if (signal !== 'SIGSTOP' && signal !== 'SIGCONT') this.#exit(128 + constants.signals[signal]);
  }

  pids(): number[] {
    return [];
  }

  readonly endLeftBehind = undefined;

  fail(error: ServiceError): void {
    this.#end(() => this.#events.fail(error));
  }

  #schedule({ sleepMs, exitCode }: MockResult): NodeJS.Timeout | undefined {
    const { timeoutMs = Number.POSITIVE_INFINITY } = this.#command;
    if (sleepMs === 0) this.#exit(exitCode);
    else if (sleepMs <= timeoutMs && sleepMs <= MAX_TIMER_MS) return setTimeout(() => this.#exit(exitCode), sleepMs);
    else if (timeoutMs <= MAX_TIMER_MS) {
      const error = new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${timeoutMs} ms`);
      return setTimeout(() => this.fail(error), timeoutMs);
    }
    return undefined;
  }

  /** Open standard input is returned as output, as by cat. */
  #cat(): CommandInput {
    return {
      write: async (data) => {
        if (this.#ended) throw new ServiceError('FAILED_PRECONDITION', 'the command has ended');
        this.#events.write('STDOUT', data);
      },
      end: () => this.#exit(0),
    };
  }

  #exit(exitCode: number): void {
    this.#end(() => this.#events.exit(exitCode, Math.round(performance.now() - this.#startedAt), false));
  }

  #end(report: () => void): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#command.signal.removeEventListener('abort', this.#cancel);
    report();
    this.#onEnd(this);
  }
}
