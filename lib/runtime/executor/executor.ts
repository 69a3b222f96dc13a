import { closeSync, mkdirSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../../errors.ts';
import type { Command, Execution } from '../runtime.ts';
import { agentScript } from './agent-script.ts';
import { CommandRun, DEATH_MS, type Outcome } from './command-run.ts';
import { commandScript } from './command-script.ts';
import { openFifo } from './fifo-pool.ts';
import { newNonce, Runner, type RunnerHost } from './runner.ts';
import { Stdin } from './stdin.ts';

/** Idle runners kept for the next commands; each is a shell of about 150 kB. */
const MAX_IDLE = 8;
/** Commands at once in one sandbox. */
const MAX_RUNNERS = 512;
/** Runners of ended commands whose background processes still hold the pipes; the oldest are let go above it. */
const MAX_LEFT_BEHIND = 64;
/** Long: a thousand may be coming up at once. */
const READY_MS = 60_000;
/** An agent that takes longer to start a runner was stopped, or the machine is past use. */
const AGENT_MS = 60_000;
const MAX_TIMER_MS = 2_147_483_647;
const TAMPERED = 'a process in the sandbox tampered with the agent that runs its commands';

/**
 * What a launcher gives the executor. The launcher makes the sandbox so that `/bin/sh AGENT_DIR/agent` is its main
 * process, with `dir` shown read-only at AGENT_DIR and the workspace as working directory, and `groups` about the
 * cgroup it was born in. Whatever ends the sandbox, the launcher then calls `close`.
 */
export interface ExecutorHost extends RunnerHost {
  /** See agentScript. */
  resetSignals: readonly string[];
  /** The line for a command's stderr after the memory limit killed something. */
  outOfMemory: string;
  /** Called once when the sandbox can no longer be trusted: the launcher kills it. */
  onBroken: (reason: string) => void;
}

const cancelled = () => new ServiceError('CANCELLED', 'the command was cancelled');

/** Runs commands in one sandbox, whatever launched it. Made before the launch; `ready` after it. */
export class Executor {
  readonly #host: ExecutorHost;
  readonly #control: number;
  /** The commands in flight, and whether the memory limit has killed something meanwhile. */
  readonly #runs = new Map<CommandRun, { oom: boolean }>();
  readonly #runners = new Set<Runner>();
  readonly #idle: Runner[] = [];
  #leftBehind: Runner[] = [];
  #creating = 0;
  #oomKills = 0;
  #closed: ServiceError | undefined;
  readonly #lost: Promise<never>;
  #lose!: (error: ServiceError) => void;

  private constructor(host: ExecutorHost, control: number) {
    this.#host = host;
    this.#control = control;
    this.#lost = new Promise((_, reject) => {
      this.#lose = reject;
    });
    this.#lost.catch(() => {});
  }

  /** Makes `host.dir` (which must not exist) with all the agent needs to start. */
  static async prepare(host: ExecutorHost): Promise<Executor> {
    mkdirSync(host.dir, { mode: 0o711 });
    writeFileSync(join(host.dir, 'agent'), agentScript(host.resetSignals), { mode: 0o444 });
    await host.fifos.place([join(host.dir, 'ctl')], host.uid);
    return new Executor(host, openFifo(join(host.dir, 'ctl'), 'both'));
  }

  /** Resolves when the sandbox takes commands. May be called before the launch. */
  async ready(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, READY_MS, new ServiceError('UNAVAILABLE', 'the sandbox did not come up in time'));
    });
    try {
      this.#rest(await Promise.race([this.#create(), late]));
      unlinkSync(join(this.#host.dir, 'ctl'));
    } finally {
      clearTimeout(timer);
    }
  }

  async exec(command: Command): Promise<Execution> {
    const nonce = newNonce();
    const stdinName = command.stdin === '' ? undefined : `${nonce}.in`;
    const script = commandScript(nonce, command, stdinName);
    this.#check(command.signal);
    let stdin: Stdin | undefined;
    if (stdinName !== undefined) {
      const path = join(this.#host.dir, stdinName);
      await this.#host.fifos.place([path], this.#host.uid);
      stdin = new Stdin(path, command.stdin);
    }
    let runner: Runner;
    try {
      runner = this.#idle.pop() ?? (await this.#await(this.#create(), command));
      this.#check(command.signal, runner);
    } catch (error) {
      stdin?.close();
      throw error;
    }
    const run: CommandRun = new CommandRun(command, {
      nonce,
      runner,
      script,
      stdin,
      outOfMemory: () => this.#outOfMemory(run),
      atPidsLimit: () => this.#host.groups?.atPidsLimit() ?? false,
      done: (outcome) => this.#done(run, runner, outcome),
    });
    this.#runs.set(run, { oom: false });
    await run.accepted;
    return run.events;
  }

  /** The sandbox is gone (or about to be): ends what runs with UNAVAILABLE and gives all descriptors back. */
  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = new ServiceError('UNAVAILABLE', reason);
    this.#lose(this.#closed);
    for (const run of [...this.#runs.keys()]) run.lose(this.#closed);
    for (const runner of this.#runners) runner.close();
    this.#runners.clear();
    this.#idle.length = 0;
    closeSync(this.#control);
  }

  #check(signal: AbortSignal, runner?: Runner): void {
    const error = this.#closed ?? (signal.aborted ? cancelled() : undefined);
    if (!error) return;
    if (runner && !this.#closed) this.#rest(runner);
    throw error;
  }

  /** A runner that comes too late for its command is kept for the next one. */
  async #await(coming: Promise<Runner>, { signal, timeoutMs }: Command): Promise<Runner> {
    let end = (_error: ServiceError) => {};
    const ended = new Promise<never>((_, reject) => {
      end = reject;
    });
    const cancel = () => end(cancelled());
    const expired = () => end(new ServiceError('DEADLINE_EXCEEDED', `the command ran longer than ${timeoutMs} ms`));
    const timer = setTimeout(expired, Math.min(timeoutMs, MAX_TIMER_MS));
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await Promise.race([coming, ended]);
    } catch (error) {
      coming.then(
        (runner) => this.#rest(runner),
        () => {},
      );
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
    }
  }

  async #create(): Promise<Runner> {
    if (this.#runners.size - this.#leftBehind.length + this.#creating >= MAX_RUNNERS) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `the sandbox runs ${MAX_RUNNERS} commands already`);
    }
    this.#creating++;
    const stuck = setTimeout(() => this.#broken('the sandbox’s agent does not answer'), AGENT_MS);
    try {
      const runner = await this.#attempt().catch((error: unknown) => this.#again(error));
      if (this.#closed) {
        runner.close();
        throw this.#closed;
      }
      this.#runners.add(runner);
      return runner;
    } finally {
      clearTimeout(stuck);
      this.#creating--;
    }
  }

  #attempt(): Promise<Runner> {
    return Runner.create(this.#host, (name) => this.#startRunner(name), this.#lost);
  }

  /**
   * A new runner can be killed from inside before it is anywhere: once more then. If the whole sandbox was, that is
   * known a moment later.
   */
  async #again(error: unknown): Promise<Runner> {
    if (error instanceof ServiceError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE') {
      throw new ServiceError('RESOURCE_EXHAUSTED', 'the server has no file descriptor left', [], { cause: error });
    }
    await Promise.race([delay(DEATH_MS), this.#lost]);
    return this.#attempt().catch((cause: unknown) => {
      if (cause instanceof ServiceError) throw cause;
      throw new ServiceError('UNAVAILABLE', 'the sandbox could not start a runner for the command', [], { cause });
    });
  }

  /** Throws once closed: the descriptor may be something else by then. */
  #startRunner(name: string): void {
    if (this.#closed) throw this.#closed;
    writeSync(this.#control, `${name}\n`);
  }

  #done(run: CommandRun, runner: Runner, outcome: Outcome): void {
    if (outcome === 'garbage') {
      this.#broken(TAMPERED);
      return;
    }
    this.#runs.delete(run);
    if (outcome === 'unkillable') this.#broken('a command in it could not be ended');
    if (this.#closed) return;
    runner.settle();
    if (outcome === 'reusable' && this.#idle.length < MAX_IDLE) {
      this.#rest(runner);
    } else if (outcome === 'killed' || outcome === 'unkillable') {
      this.#discard(runner);
      this.#refill();
    } else {
      if (outcome === 'reusable') runner.retire();
      this.#leave(runner);
      this.#refill();
    }
  }

  /** An idle runner says nothing, and one whose shell was killed is no longer there. */
  #rest(runner: Runner): void {
    this.#idle.push(runner);
    runner.onStatus = () => this.#broken(TAMPERED);
    runner.onGone = () => {
      this.#idle.splice(this.#idle.indexOf(runner), 1);
      this.#discard(runner);
    };
  }

  #broken(reason: string): void {
    if (!this.#closed) this.#host.onBroken(reason);
  }

  /** Its background processes live on; their output is read and dropped until they let go of the pipes. */
  #leave(runner: Runner): void {
    this.#leftBehind.push(runner);
    runner.out.resume();
    runner.err.resume();
    runner.outputEnded.then(() => this.#discard(runner));
    if (this.#leftBehind.length > MAX_LEFT_BEHIND) this.#discard(this.#leftBehind[0]!);
  }

  #discard(runner: Runner): void {
    runner.close();
    this.#runners.delete(runner);
    this.#leftBehind = this.#leftBehind.filter((each) => each !== runner);
  }

  /** So that the command after a lost runner does not wait for a new one. */
  #refill(): void {
    if (this.#idle.length > 0 || this.#creating > 0) return;
    this.#create().then(
      (runner) => this.#rest(runner),
      () => {},
    );
  }

  /** The kernel counts kills for the whole sandbox: every command in flight is told. */
  #outOfMemory(run: CommandRun): string | undefined {
    const kills = this.#host.groups?.oomKills() ?? 0;
    if (kills > this.#oomKills) for (const state of this.#runs.values()) state.oom = true;
    this.#oomKills = kills;
    return this.#runs.get(run)?.oom ? this.#host.outOfMemory : undefined;
  }
}
