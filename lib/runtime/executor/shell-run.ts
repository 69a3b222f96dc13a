import { ServiceError } from '../../errors.ts';
import type { TurnTime } from '../../turn-time.ts';
import type { CommandEvent, ShellCommand, ShellEnd, ShellExecution } from '../runtime.ts';
import { EventQueue } from './execution.ts';
import { LastOutput } from './last-output.ts';
import type { OutputPipes } from './output-pipes.ts';

/** Maximum bytes read after the end of a command regardless of the consumer: both pipes at their largest. */
const LAST_BYTES = 2_097_152;
const MAX_TIMER_MS = 2_147_483_647;

export interface ShellRunContext {
  pipes: OutputPipes;
  endings: TurnTime;
  /** Whether the shell has no other process now. Never throws. */
  alone: () => boolean | Promise<boolean>;
  /** The line for stderr if the memory limit killed a process while this command ran; otherwise undefined. */
  outOfMemory: () => string | undefined;
  /** Kills the shell and all its processes. `ShellRun.shellEnded` is called after that. */
  kill: () => void;
  /** Called once, at the end. `reusable`: the pipes are empty and have no other writer. */
  done: (reusable: boolean) => void;
}

/** One command that was given to a session's shell, up to its last event. */
export class ShellRun implements ShellExecution {
  readonly settled: Promise<void>;
  #settle!: () => void;
  readonly #events: EventQueue;
  readonly #context: ShellRunContext;
  readonly #lastOutput: LastOutput;
  readonly #signal: AbortSignal;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #cancel = () => this.#kill(new ServiceError('CANCELLED', 'the command was cancelled'));
  /** The reason why the shell was killed, if it was. */
  #killedFor: ServiceError | undefined;
  #ending = false;
  #stopped = false;

  constructor({ timeoutMs, signal }: Omit<ShellCommand, 'command'>, context: ShellRunContext) {
    this.#context = context;
    this.#signal = signal;
    const { pipes, endings } = context;
    this.#lastOutput = new LastOutput(pipes, endings);
    this.#events = new EventQueue(() => this.#resume(), this.#cancel);
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    pipes.out.sink = (data, piece) => this.#write('STDOUT', data, piece);
    pipes.err.sink = (data, piece) => this.#write('STDERR', data, piece);
    signal.addEventListener('abort', this.#cancel, { once: true });
    const expired = () =>
      this.#kill(new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${timeoutMs} ms`));
    this.#timer = setTimeout(expired, Math.min(timeoutMs, MAX_TIMER_MS));
  }

  [Symbol.asyncIterator](): AsyncIterator<CommandEvent> {
    return this.#events;
  }

  /** The shell has reported the exit code, so that all output of the command is in the pipes. */
  reported(exitCode: number): void {
    if (!this.#begin()) return;
    const { alone } = this.#context;
    const ended = async () => {
      const isAlone = await alone();
      const emptied = await this.#lastOutput.read(isAlone, () => this.#isFull);
      const line = exitCode === 0 ? undefined : this.#context.outOfMemory();
      if (line !== undefined) this.#events.write('STDERR', Buffer.from(line));
      this.#exit(exitCode, line !== undefined);
      this.#finish(isAlone && emptied);
    };
    ended().catch((cause: unknown) => this.#lost(cause));
  }

  /** The shell has ended, and no process of it is left. `own`: what it wrote to its own standard streams meanwhile. */
  shellEnded(end: ShellEnd, own: () => Iterable<CommandEvent & { kind: 'output' }>): void {
    if (!this.#begin() && this.#killedFor === undefined) return;
    const ended = async () => {
      await this.#lastOutput.read(true, () => this.#isFull);
      for (const { stream, data } of own()) this.#events.write(stream, data);
      const error = this.#killedFor ?? end.error;
      if (error) this.#events.fail(error);
      else this.#exit(end.exitCode, end.outOfMemory);
      this.#finish(false);
    };
    ended().catch((cause: unknown) => this.#lost(cause));
  }

  #kill(error: ServiceError): void {
    if (!this.#begin()) return;
    this.#killedFor = error;
    this.#resume();
    this.#context.kill();
  }

  #lost(cause: unknown): void {
    this.#events.fail(new ServiceError('UNAVAILABLE', 'the server lost the command’s output', [], { cause }));
    this.#context.kill();
    this.#finish(false);
  }

  #exit(exitCode: number, outOfMemory: boolean): void {
    this.#events.exit(exitCode, Math.round(performance.now() - this.#startedAt), outOfMemory);
  }

  get #isFull(): boolean {
    return this.#events.excess >= LAST_BYTES;
  }

  /** After the command's end the pipes are read even if the consumer is slow, up to a limit. */
  #write(stream: 'STDOUT' | 'STDERR', data: Uint8Array, piece?: Buffer): boolean {
    const more = this.#events.write(stream, data, piece) || (this.#ending && this.#events.excess < LAST_BYTES);
    this.#stopped ||= !more;
    return more;
  }

  #resume(): void {
    this.#context.pipes.out.resume();
    this.#context.pipes.err.resume();
  }

  /** From here on exactly one path ends the run. */
  #begin(): boolean {
    if (this.#ending) return false;
    this.#ending = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#cancel);
    return true;
  }

  #finish(reusable: boolean): void {
    const { pipes, done } = this.#context;
    pipes.out.sink = () => true;
    pipes.err.sink = () => true;
    if (this.#stopped) this.#resume();
    done(reusable);
    this.#settle();
  }
}
