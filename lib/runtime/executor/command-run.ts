import { setTimeout as delay } from 'node:timers/promises';
import type { OutputStream } from '../../contract/messages.ts';
import { ServiceError } from '../../errors.ts';
import type { TurnTime } from '../../turn-time.ts';
import type { Command } from '../runtime.ts';
import type { CommandScript } from './command-script.ts';
import { EventQueue } from './execution.ts';
import { type DrainQuota, newQuota } from './pipe-reader.ts';
import type { Runner } from './runner.ts';
import type { StatusLine } from './status.ts';
import type { Stdin } from './stdin.ts';

/**
 * Milliseconds that output of background processes is still read before the command's end is reported without the rest.
 */
const STRAGGLER_MS = 200;
/** Milliseconds after which the end of a killed command is reported anyway (a process is stuck in the kernel). */
const KILL_MS = 700;
const KILL_TRIES = 10;
const DRAIN_ROUNDS = 64;
/** Milliseconds by which the report of a sandbox's end may follow that of its runner. */
export const DEATH_MS = 50;
/** Maximum bytes read after the end of a command regardless of the consumer: both pipes at their largest. */
const LAST_BYTES = 2_097_152;
const MAX_TIMER_MS = 2_147_483_647;
const KILLED = 128 + 9;

type Quotas = readonly [out: DrainQuota, err: DrainQuota];
const newQuotas = (): Quotas => [newQuota(), newQuota()];

/** The result of the run for the executor, reported once, when the runner is free again or lost. */
export type Outcome = 'reusable' | 'left-behind' | 'killed' | 'unkillable' | 'garbage';

export interface RunContext {
  nonce: string;
  runner: Runner;
  script: CommandScript;
  stdin: Stdin | undefined;
  /** The line for stderr if the memory limit killed a process while this command ran; otherwise undefined. */
  outOfMemory: () => string | undefined;
  /** Whether the sandbox has reached its limit of processes. */
  atPidsLimit: () => boolean;
  done: (outcome: Outcome) => void;
  /** For kills and last reads, shared by all sandboxes. */
  endings: TurnTime;
}

/**
 * One command on one runner that has just received its line, up to the last event. No callback throws, and `done` is
 * called exactly once, whatever fails.
 */
export class CommandRun {
  readonly events: EventQueue;
  /** Resolves when the command was accepted; rejects with INVALID_ARGUMENT for a workdir that cannot be entered. */
  readonly accepted: Promise<void>;
  #accept!: (error?: ServiceError) => void;
  readonly #context: RunContext;
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #cancel = () => this.#safely(this.#kill(new ServiceError('CANCELLED', 'the command was cancelled')));
  #workdirRefused = false;
  #exitReported = false;
  #ending = false;
  #finished = false;
  /** Whether reading is paused on a pipe. */
  #stopped = false;

  constructor(command: Command, context: RunContext) {
    this.#context = context;
    this.#signal = command.signal;
    this.events = new EventQueue(() => this.#resume(), this.#cancel);
    this.accepted = new Promise((resolve, reject) => {
      this.#accept = (error) => (error ? reject(error) : resolve());
    });
    // A rejection may have no listener.
    this.accepted.catch(() => {});
    const { runner } = context;
    runner.out.sink = (data) => this.#write('STDOUT', data);
    runner.err.sink = (data) => this.#write('STDERR', data);
    runner.onStatus = (line) => this.#onStatus(line);
    runner.onGone = () => this.#safely(this.#onGone());
    command.signal.addEventListener('abort', this.#cancel, { once: true });
    const expired = () => new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${command.timeoutMs} ms`);
    this.#timer = setTimeout(() => this.#safely(this.#kill(expired())), Math.min(command.timeoutMs, MAX_TIMER_MS));
    if (!context.script.reportsStart) this.#accept();
  }

  /** The sandbox has ended: no more output will arrive. */
  lose(error: ServiceError): void {
    if (!this.#begin()) return;
    try {
      this.#drain(newQuotas());
    } catch {
      // The end of the sandbox is the more specific reason.
    }
    this.#finish('killed', error);
  }

  /**
   * After the command's end the pipes are drained even if the consumer is slow; the total is bounded, so that a process
   * that keeps writing cannot extend it.
   */
  #write(stream: OutputStream, data: Uint8Array): boolean {
    const more = this.events.write(stream, data) || (this.#ending && this.events.excess < LAST_BYTES);
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
    } else if (line.kind === 'w') {
      this.#workdirRefused = true;
    } else if (line.kind === 'x' && line.value <= 255) {
      this.#exitReported = true;
      this.#safely(this.#complete(line.value));
    } else if (line.kind === 'f') {
      this.#safely(this.#kill(this.#cannotStart()));
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

  #cannotStart(): ServiceError {
    const why = this.#context.atPidsLimit() ? 'its pids_limit is reached' : 'it can start no further process';
    return new ServiceError('RESOURCE_EXHAUSTED', `the command could not be started in the sandbox: ${why}`);
  }

  /** When the exit code is known, all output of the command is in the pipes. */
  async #complete(exitCode: number): Promise<void> {
    if (!this.#begin()) return;
    const { runner } = this.#context;
    const found = runner.alone();
    const alone = typeof found === 'boolean' ? found : await found;
    let emptied = false;
    // More than once: the host may allow a pipe larger than usual.
    for (let rounds = 0; rounds === 0 || (alone && !emptied && rounds < DRAIN_ROUNDS); rounds++) {
      const quotas = newQuotas();
      const draining = this.#drainAll(quotas);
      if (draining) await draining;
      emptied = quotas.every((quota) => quota.emptied);
    }
    const reusable = alone && emptied;
    if (!reusable) {
      // A process is still alive. Once the runner closes the pipes they end, unless that process still has them open.
      runner.retire();
      this.#resume();
      await Promise.race([runner.outputEnded, delay(STRAGGLER_MS)]);
    }
    if (this.#workdirRefused) {
      this.#accept(new ServiceError('INVALID_ARGUMENT', 'workdir cannot be entered: no directory there, or no access'));
    }
    this.#exit(exitCode, reusable ? 'reusable' : 'left-behind');
  }

  /** The runner's own shell was killed under the command, by the memory limit or by the command itself. */
  async #onGone(): Promise<void> {
    // If the whole sandbox has ended, that is known a moment later and is the better reason.
    await delay(DEATH_MS);
    if (!this.#begin()) return;
    await this.#killed();
    this.#exit(KILLED, 'killed');
  }

  async #kill(error: ServiceError): Promise<void> {
    if (!this.#begin()) return;
    await this.#killed();
    this.#finish('killed', error);
  }

  async #killed(): Promise<void> {
    const { runner } = this.#context;
    await this.#killRunner();
    this.#resume();
    await Promise.race([runner.outputEnded, delay(KILL_MS)]);
    await this.#drainAll(newQuotas());
  }

  /** If no descriptor is free, not even of the reserve, one may become free shortly. */
  async #killRunner(): Promise<void> {
    for (let tries = KILL_TRIES; ; tries--) {
      try {
        return await this.#context.endings.run(() => this.#context.runner.kill());
      } catch (error) {
        if (tries === 0) throw error;
        await delay(KILL_MS / KILL_TRIES);
      }
    }
  }

  #exit(exitCode: number, outcome: Outcome): void {
    const oom = this.#context.outOfMemory();
    if (oom !== undefined && exitCode !== 0) this.events.write('STDERR', Buffer.from(oom));
    this.events.exit(exitCode, Math.round(performance.now() - this.#context.runner.executedAt));
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

  /** Returns nothing if all was read at once, so that a usual command ends in the same turn as its last line arrives. */
  #drainAll(quotas: Quotas): void | Promise<void> {
    const drained = this.#context.endings.run(() => this.#drain(quotas));
    if (drained !== true) return this.#drainRest(quotas, drained);
  }

  async #drainRest(quotas: Quotas, first: boolean | Promise<boolean>): Promise<void> {
    let drained = await first;
    while (!drained) drained = await this.#context.endings.run(() => this.#drain(quotas));
  }

  /** Returns false if another call is needed in a later turn of the event loop. */
  #drain([ofOut, ofErr]: Quotas): boolean {
    const { out, err } = this.#context.runner;
    return out.drain(ofOut) && err.drain(ofErr);
  }

  /**
   * Runs an ending that is called from event callbacks, where nothing would catch an exception. If a kill fails, the
   * sandbox is ended; if output cannot be read, only the command is.
   */
  #safely(ending: Promise<void>): void {
    ending
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
    if (error) this.events.fail(error);
    this.#accept(error);
    this.#context.done(outcome);
  }
}
