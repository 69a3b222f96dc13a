import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { OutputStream } from '../../messages.ts';
import type { Command } from '../runtime.ts';
import type { CommandScript } from './command-script.ts';
import { EventQueue } from './execution.ts';
import { type DrainQuota, newQuota } from './pipe-reader.ts';
import type { Runner } from './runner.ts';
import type { StatusLine } from './status.ts';
import type { Stdin } from './stdin.ts';

/** How long output may still come from processes a command left behind, before its end is reported without them. */
const STRAGGLER_MS = 200;
/** How long the end of a killed command may take before it is reported anyway (a process stuck in the kernel). */
const KILL_MS = 700;
const KILL_TRIES = 10;
const DRAIN_ROUNDS = 64;
/** How long after a runner the news of its sandbox's death may come. */
export const DEATH_MS = 50;
/** Output that is taken, after the end of a command, beyond what its consumer has read: both pipes at their largest. */
const LAST_BYTES = 2_097_152;
const MAX_TIMER_MS = 2_147_483_647;
const KILLED = 128 + 9;

type Quotas = readonly [out: DrainQuota, err: DrainQuota];
const newQuotas = (): Quotas => [newQuota(), newQuota()];

/** What the run tells the executor, once, when the runner is free again or lost. */
export type Outcome = 'reusable' | 'left-behind' | 'killed' | 'unkillable' | 'garbage';

export interface RunContext {
  nonce: string;
  runner: Runner;
  script: CommandScript;
  stdin: Stdin | undefined;
  /** The line for stderr when the memory limit killed something while this command ran; else undefined. */
  outOfMemory: () => string | undefined;
  /** True when no further process may be made in the sandbox. */
  atPidsLimit: () => boolean;
  done: (outcome: Outcome) => void;
}

/**
 * One command on one runner that has just taken its line, to its last event. Nothing here throws out of a callback, and
 * whatever goes wrong `done` is told once.
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
  #ending = false;
  #finished = false;
  /** A pipe may not be read at the moment. */
  #stopped = false;

  constructor(command: Command, context: RunContext) {
    this.#context = context;
    this.#signal = command.signal;
    this.events = new EventQueue(() => this.#resume(), this.#cancel);
    this.accepted = new Promise((resolve, reject) => {
      this.#accept = (error) => (error ? reject(error) : resolve());
    });
    // Nobody may be waiting for it any more when it rejects.
    this.accepted.catch(() => {});
    const { runner } = context;
    runner.out.sink = (data) => this.#write('STDOUT', data);
    runner.err.sink = (data) => this.#write('STDERR', data);
    runner.onStatus = (line) => this.#onStatus(line);
    runner.onGone = () => this.#safely(this.#onGone());
    command.signal.addEventListener('abort', this.#cancel, { once: true });
    const expired = () => new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${command.timeoutMs} ms`);
    this.#timer = setTimeout(() => this.#safely(this.#kill(expired())), Math.min(command.timeoutMs, MAX_TIMER_MS));
    if (!context.script.announcesStart) this.#accept();
  }

  /** The sandbox is gone: nothing more will come. */
  lose(error: ServiceError): void {
    if (!this.#begin()) return;
    try {
      this.#drain(newQuotas());
    } catch {
      // The sandbox's end is the better reason.
    }
    this.#finish('killed', error);
  }

  /** At the end the pipes are emptied though the consumer is behind; whoever goes on writing then is not read for ever. */
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
    if (this.#ending && line?.kind !== 'f') return;
    if (line === undefined || line.nonce !== this.#context.nonce) {
      this.#context.done('garbage');
    } else if (line.kind === 's') {
      this.#start();
    } else if (line.kind === 'w') {
      this.#workdirRefused = true;
    } else if (line.kind === 'x' && line.value <= 255) {
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

  /** All the command wrote is in the pipes already when its exit is known. */
  async #complete(exitCode: number): Promise<void> {
    if (!this.#begin()) return;
    const { runner } = this.#context;
    const found = runner.alone();
    const alone = typeof found === 'boolean' ? found : await found;
    let emptied = false;
    // More than once: a pipe that the host lets be larger than usual.
    for (let rounds = 0; rounds === 0 || (alone && !emptied && rounds < DRAIN_ROUNDS); rounds++) {
      const quotas = newQuotas();
      while (!this.#drain(quotas)) await setImmediate();
      emptied = quotas.every((quota) => quota.emptied);
    }
    const reusable = alone && emptied;
    if (!reusable) {
      // Something lives on. When the runner lets go of the pipes, they end, unless that something still writes.
      runner.retire();
      this.#resume();
      await Promise.race([runner.outputEnded, delay(STRAGGLER_MS)]);
    }
    if (this.#workdirRefused) {
      this.#accept(new ServiceError('INVALID_ARGUMENT', 'workdir cannot be entered: no directory there, or no access'));
    }
    this.#exit(exitCode, reusable ? 'reusable' : 'left-behind');
  }

  /** The runner's own shell was killed under the command: by the memory limit, or by the command. */
  async #onGone(): Promise<void> {
    // Where the whole sandbox died, that is known a moment later and is the better answer.
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
    const quotas = newQuotas();
    while (!this.#drain(quotas)) await setImmediate();
  }

  /** When the server is short of descriptors, even of those held back for this, it may have one in a moment. */
  async #killRunner(): Promise<void> {
    for (let tries = KILL_TRIES; ; tries--) {
      try {
        return await this.#context.runner.kill();
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

  /** False: another call is needed, in a later turn of the event loop. */
  #drain([ofOut, ofErr]: Quotas): boolean {
    const { out, err } = this.#context.runner;
    return out.drain(ofOut) && err.drain(ofErr);
  }

  /**
   * These run out of event callbacks, where nobody would catch. What cannot be ended takes its sandbox with it; a command
   * whose output cannot be read, only what it started.
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
    // Whether or not its consumer ever reads on, the runner's next command is not to find its pipes unread.
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
