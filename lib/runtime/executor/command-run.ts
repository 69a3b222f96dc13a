import { setTimeout as delay } from 'node:timers/promises';
import type { OutputStream } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { Command, CommandEvent, CommandInput, RunningCommand, TerminalSize } from '../runtime.ts';
import { killer, killPaced, signalPaced } from './command-signals.ts';
import { EventQueue } from './execution.ts';
import { endWithin } from './grace.ts';
import { LastOutput } from './last-output.ts';
import { outliveShell } from './outlive-shell.ts';
import { cannotStart, refusalOf } from './refusals.ts';
import type { Outcome, RunContext } from './run-context.ts';
import type { StatusLine } from './status.ts';
import { cannotOpenTerminal, Terminal } from './terminal/terminal.ts';

/**
 * Milliseconds that output of background processes is still read before the command's end is reported without the rest.
 */
const STRAGGLER_MS = 200;
/** Milliseconds after which the end of a killed command is reported anyway (a process is stuck in the kernel). */
const KILL_MS = 700;
/** Maximum bytes read after the end of a command regardless of the consumer: both pipes at their largest. */
const LAST_BYTES = 2_097_152;
const MAX_TIMER_MS = 2_147_483_647;
const KILLED = 128 + 9;

/**
 * One command on one runner that has just received its line, up to the last event. No callback throws, and `done` is
 * called exactly once, whatever fails.
 */
export class CommandRun implements RunningCommand {
  readonly input: CommandInput | undefined;
  readonly resize?: (size: TerminalSize) => Promise<void>;
  readonly #events: EventQueue;
  /**
   * Resolves when the command was accepted; rejects with INVALID_ARGUMENT for a workdir that cannot be entered, with
   * FAILED_PRECONDITION if the sandbox has no such shell, or no program for a terminal.
   */
  readonly accepted: Promise<void>;
  #accept!: (error?: ServiceError) => void;
  readonly #context: RunContext;
  readonly #command: Pick<Command, 'shell' | 'workdir' | 'ownWorkdir'>;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #lastOutput: LastOutput;
  readonly #cancel = () => void this.stop(new ServiceError('CANCELLED', 'the command was cancelled'));
  /** Reported before the command's end; nothing of it has run. */
  #refusal: ServiceError | undefined;
  #exitReported = false;
  #ending = false;
  #finished = false;
  #signalled = false;
  #stopping: ServiceError | undefined;
  #stop: Promise<void> | undefined;
  /** Whether reading is paused on a pipe. */
  #stopped = false;
  /** After the end: kills the processes that are left. Absent if there are none. */
  #leftBehind: (() => void | Promise<void>) | undefined;

  constructor(command: Command, context: RunContext) {
    this.#context = context;
    const { stdin } = context;
    this.input = command.openStdin || command.terminal ? stdin : undefined;
    if (stdin instanceof Terminal) this.resize = async (size) => stdin.resize(size);
    this.#lastOutput = new LastOutput(context.runner, context.endings);
    const { shell = '', workdir, ownWorkdir = false, timeoutMs } = command;
    this.#command = { shell, workdir, ownWorkdir };
    this.#signal = command.signal;
    this.#events = new EventQueue(() => this.#resume(), this.#cancel);
    this.accepted = new Promise((resolve, reject) => {
      this.#accept = (error) => (error ? reject(error) : resolve());
    });
    // A rejection may have no listener.
    this.accepted.catch(() => {});
    const { runner } = context;
    runner.out.sink = (data, piece) => this.#write('STDOUT', data, piece);
    runner.err.sink = (data, piece) => this.#write('STDERR', data, piece);
    runner.onStatus = (line) => this.#onStatus(line);
    runner.onGone = () => this.#safely(this.#onGone());
    command.signal.addEventListener('abort', this.#cancel, { once: true });
    if (timeoutMs !== undefined) {
      const expired = () => new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${timeoutMs} ms`);
      this.#timer = setTimeout(() => void this.stop(expired()), Math.min(timeoutMs, MAX_TIMER_MS));
    }
    if (!context.reportsStart) this.#accept();
  }

  [Symbol.asyncIterator](): AsyncIterator<CommandEvent> {
    return this.#events;
  }

  /** See `RunningCommand`. */
  kill(signal: NodeJS.Signals): Promise<void> {
    if (signal === 'SIGKILL') return this.#settled(this.#kill());
    this.#signalled = true;
    const { runner, endings, stdin } = this.#context;
    const send = () => runner.signal(signal, stdin instanceof Terminal);
    return signalPaced(send, () => this.#ending, endings);
  }

  /** See `RunningCommand`. */
  pids(): number[] | Promise<number[]> {
    return this.#finished ? [] : this.#context.runner.pids();
  }

  /** See `RunningCommand`. */
  get endLeftBehind(): (() => Promise<void>) | undefined {
    return this.#leftBehind && killer(this.#leftBehind, this.#context.endings);
  }

  /**
   * Ends the command with the error: its processes get SIGTERM, and after the grace SIGKILL. Once: a later call waits for the
   * first. Never rejects.
   */
  async stop(error: ServiceError): Promise<void> {
    if (!this.#ending) this.#stop ??= this.#endGently(error);
    await this.#stop;
  }

  async #endGently(error: ServiceError): Promise<void> {
    this.#stopping = error;
    // A shell that the signal ends before its program has taken its place did not fail.
    this.#signalled = true;
    const { graceMs, runner, endings, stdin } = this.#context;
    const isOver = () => this.#ending || this.#exitReported;
    if (graceMs > 0) await endWithin(graceMs, { runner, terminal: stdin instanceof Terminal, isOver, endings });
    await this.#settled(this.#kill(error));
  }

  /** The sandbox has ended: no more output will arrive. */
  lose(error: ServiceError): void {
    if (!this.#begin()) return;
    try {
      this.#lastOutput.readSome();
    } catch {
      // The end of the sandbox is the more specific reason.
    }
    this.#finish('killed', error);
  }

  /**
   * After the command's end the pipes are drained even if the consumer is slow; the total is bounded, so that a process
   * that keeps writing cannot extend it.
   */
  #write(stream: OutputStream, data: Uint8Array, piece?: Buffer): boolean {
    const more = this.#events.write(stream, data, piece) || (this.#ending && this.#events.excess < LAST_BYTES);
    this.#stopped ||= !more;
    return more;
  }

  #resume(): void {
    this.#context.runner.out.resume();
    this.#context.runner.err.resume();
  }

  #onStatus(line: StatusLine | undefined): void {
    if (this.#ending && line?.kind !== 'f') {
      // The exit code is in the last line of a command.
      if (this.#exitReported) this.#context.done('garbage');
      return;
    }
    if (line === undefined || line.nonce !== this.#context.nonce) {
      this.#context.done('garbage');
    } else if (line.kind === 's') {
      this.#start();
    } else if (line.kind === 'w' || line.kind === 'e' || line.kind === 'm') {
      this.#refusal = refusalOf(line.kind, this.#command);
    } else if (line.kind === 'p') {
      this.#safely(this.#kill(cannotOpenTerminal()));
    } else if (line.kind === 'x' && line.value <= 255) {
      this.#exitReported = true;
      // While it is stopped, `stop` ends it: other processes of it may need their time.
      if (!this.#stopping) this.#safely(this.#complete(line.value));
    } else if (line.kind === 'f') {
      // The subshell of bash runs the runner's trap if a signal arrives before the program has replaced it.
      if (!this.#signalled) this.#safely(this.#kill(cannotStart(this.#context.atPidsLimit())));
    } else {
      this.#context.done('garbage');
    }
  }

  #start(): void {
    try {
      this.#context.stdin?.start();
      this.#accept();
    } catch (cause) {
      const error = new ServiceError('RESOURCE_EXHAUSTED', 'the server cannot open the command’s stdin', [], { cause });
      this.#safely(this.#kill(error));
    }
  }

  /** When the exit code is known, all output of the command is in the pipes. */
  async #complete(exitCode: number): Promise<void> {
    if (!this.#begin()) return;
    const { runner } = this.#context;
    const found = runner.alone();
    const alone = typeof found === 'boolean' ? found : await found;
    const emptied = await this.#lastOutput.read(alone, () => this.#events.excess >= LAST_BYTES);
    const reusable = alone && emptied;
    if (!reusable) {
      // A process is still alive. Once the runner closes the pipes they end, unless that process still has them open.
      runner.retire();
      this.#resume();
      await Promise.race([runner.outputEnded, delay(STRAGGLER_MS)]);
    }
    if (this.#refusal) this.#accept(this.#refusal);
    this.#exit(exitCode, reusable ? 'reusable' : 'left-behind');
  }

  /** The runner's own shell was killed under the command, by the memory limit or by the command itself. */
  async #onGone(): Promise<void> {
    await outliveShell(this.#context.isEnding);
    const unread = this.#ending ? undefined : this.#context.runner.unread();
    await this.#kill(unread ?? this.#stopping);
  }

  /** The runner is killed, too: to kill each of the others would race with their forks. Without an error it is exit 137. */
  async #kill(error?: ServiceError): Promise<void> {
    if (!this.#begin()) return;
    const { runner } = this.#context;
    await this.#killRunner();
    this.#resume();
    await Promise.race([runner.outputEnded, delay(KILL_MS)]);
    await this.#lastOutput.readAll();
    if (error) this.#finish('killed', error);
    else this.#exit(KILLED, 'killed');
  }

  readonly #killRunner = () => killPaced(() => this.#context.runner.kill(), this.#context.endings);

  #exit(exitCode: number, outcome: Outcome): void {
    const line = this.#context.outOfMemory();
    const oom = line !== undefined && exitCode !== 0;
    if (oom) this.#events.write('STDERR', Buffer.from(line));
    this.#events.exit(exitCode, Math.round(performance.now() - this.#context.runner.executedAt), oom);
    this.#finish(outcome);
  }

  /** From here on exactly one path ends the run, and the pipes are read whether or not the consumer keeps up. */
  #begin(): boolean {
    if (this.#ending) return false;
    this.#ending = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#cancel);
    return true;
  }

  /**
   * Runs an ending that is called from event callbacks, where nothing would catch an exception. If a kill fails, the
   * sandbox is ended; if output cannot be read, only the command is.
   */
  #safely(ending: Promise<void>): void {
    void this.#settled(ending);
  }

  #settled(ending: Promise<void>): Promise<void> {
    return ending
      .catch(async (cause: unknown) => {
        await this.#killRunner();
        this.#finish('killed', new ServiceError('UNAVAILABLE', 'the server lost the command’s output', [], { cause }));
      })
      .catch((cause: unknown) => {
        const error = new ServiceError('INTERNAL', 'the command could not be ended properly', [], { cause });
        this.#finish('unkillable', error);
      });
  }

  #finish(outcome: Outcome, error?: ServiceError): void {
    if (this.#finished) return;
    this.#finished = true;
    const { runner, stdin } = this.#context;
    // Independently of the consumer, the pipes must be empty for the runner's next command.
    if (this.#stopped) this.#resume();
    runner.out.sink = () => true;
    runner.err.sink = () => true;
    runner.onStatus = () => {};
    runner.onGone = () => {};
    stdin?.close();
    if (outcome !== 'reusable') this.#leftBehind = runner.killer();
    if (error) this.#events.fail(error);
    this.#accept(error);
    this.#context.done(outcome);
  }
}
