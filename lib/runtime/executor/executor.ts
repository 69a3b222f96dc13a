import { closeSync, mkdirSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxEnded, ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import { errorCode } from '../../linux/errno.ts';
import { hasTriedNetwork } from '../network-attempts.ts';
import type { Command, NetworkState, OpenShell, RunningCommand, RunningShell } from '../runtime.ts';
import { AgentAnswer, ANSWER } from './agent-answer.ts';
import { type AgentOptions, agentScript } from './agent-script.ts';
import { askOneOf } from './ask-one-of.ts';
import { awaitRunner, cancelled } from './await-runner.ts';
import { inputNames, openInput } from './command-input.ts';
import { CommandRun } from './command-run.ts';
import { commandScript } from './command-script.ts';
import { openFifo, takeBack } from './fifo-pool.ts';
import { terminateAll } from './grace.ts';
import { OpenNetwork } from './open-network.ts';
import { placeIdentity, placePrograms } from './programs.ts';
import { type Request, requestFor } from './request.ts';
import type { Outcome } from './run-context.ts';
import { newNonce, type Runner, type RunnerHost } from './runner.ts';
import { RunnerPool } from './runner-pool.ts';
import { SessionShell } from './session-shell.ts';

/** Milliseconds; large because a thousand sandboxes may start at once. */
const READY_MS = 60_000;
const TAMPERED = 'a process in the sandbox tampered with the agent that runs its commands';
const NOT_TAKEN = 'the command could not be given to the sandbox';

const given = <T>(preparing: Promise<T>): Promise<T> =>
  preparing.catch((error: unknown) => {
    throw hostError(error, NOT_TAKEN);
  });

/**
 * The launcher's side of the executor. The launcher starts the sandbox with `/bin/sh AGENT_DIR/agent` as its main
 * process, `dir` shown read-only at AGENT_DIR, the workspace as working directory, and `groups` around the cgroup it
 * starts in. When the sandbox ends for any reason, the launcher calls `close`.
 */
export interface ExecutorHost extends RunnerHost, AgentOptions {
  /** Names the author of its commits. Empty: `assign` follows. */
  sandboxId: string;
  /** The line for a command's stderr after the memory limit killed a process. */
  outOfMemory: string;
  /** Milliseconds between SIGTERM and the kill of what is stopped; 0: no grace. */
  stopGraceMs: number;
  /** Called once when the sandbox can no longer be trusted; the launcher must kill it. Must not throw. */
  onBroken: (reason: string) => void;
}

/** Runs commands in one sandbox, independently of its launcher. Constructed before the launch; `ready` follows it. */
export class Executor {
  readonly #host: ExecutorHost;
  readonly #control: number;
  /** Absent: its first runner is its answer. */
  readonly #answer: AgentAnswer | undefined;
  readonly #pool: RunnerPool;
  /** Commands in progress, with whether the memory limit has killed a process meanwhile. */
  readonly #runs = new Map<CommandRun, { oom: boolean }>();
  readonly #network: OpenNetwork;
  #oomKills = 0;
  #isBroken = false;
  #closed: ServiceError | undefined;
  #stopping: ServiceError | undefined;
  #lose!: (error: ServiceError) => void;

  private constructor(host: ExecutorHost, control: number, answer: AgentAnswer | undefined) {
    this.#host = host;
    this.#answer = answer;
    this.#network = new OpenNetwork(host.dir);
    this.#control = control;
    const lost = new Promise<never>((_, reject) => {
      this.#lose = reject;
    });
    lost.catch(() => {});
    this.#pool = new RunnerPool({
      runners: host,
      start: (name) => this.#startRunner(name),
      lost,
      tampered: () => this.#broken(TAMPERED),
      stuck: () => this.#broken('the sandbox’s agent does not answer'),
    });
  }

  /** Creates `host.dir` (which must not exist) with all files that the agent needs to start. */
  static async prepare(host: ExecutorHost): Promise<Executor> {
    mkdirSync(host.dir, { mode: 0o711 });
    writeFileSync(join(host.dir, 'agent'), agentScript(host), { mode: 0o444 });
    placePrograms(host.dir);
    if (host.sandboxId !== '') placeIdentity(host.dir, host.sandboxId);
    const fifos = host.answers ? ['ctl', ANSWER] : ['ctl'];
    await host.fifos.place(
      fifos.map((name) => join(host.dir, name)),
      host.uid,
    );
    const answer = host.answers ? new AgentAnswer(host.dir, host.scratch) : undefined;
    try {
      return new Executor(host, openFifo(join(host.dir, 'ctl'), 'both'), answer);
    } catch (error) {
      answer?.close();
      throw error;
    }
  }

  /** Resolves when the sandbox accepts commands. May be called before the launch. If the agent answers, no runner is started. */
  async ready(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, READY_MS, new ServiceError('UNAVAILABLE', 'the sandbox did not come up in time'));
    });
    try {
      if (this.#answer === undefined) this.#pool.rest(await Promise.race([this.#pool.create(), late]));
      else await Promise.race([this.#answer.given, late]);
      unlinkSync(join(this.#host.dir, 'ctl'));
      if (this.#closed) throw this.#closed;
      // The agent has it open. A process of the sandbox that could open it, too, would keep the agent from reading its end.
      takeBack(this.#control, this.#host.uid);
      if (this.#answer !== undefined) unlinkSync(join(this.#host.dir, ANSWER));
    } finally {
      clearTimeout(timer);
      this.#answer?.close();
    }
  }

  /** Starts the first runner, if there is none. Rejects if it could not be started. */
  startFirst(): Promise<void> {
    return this.#pool.startFirst();
  }

  /** Before the first command: the sandbox that it is for. */
  assign(sandboxId: string, outOfMemory: string): void {
    if (this.#closed) throw this.#closed;
    placeIdentity(this.#host.dir, sandboxId);
    Object.assign(this.#host, { sandboxId, outOfMemory });
  }

  /** See `RunningSandbox.exec`. */
  async exec(command: Command): Promise<RunningCommand> {
    const nonce = newNonce();
    const names = inputNames(command);
    const script = commandScript(nonce, command, names, this.#network.before);
    this.#check(command.signal);
    const stdin = names.stdin === undefined ? undefined : await given(openInput(this.#host, names, command));
    let request: Request | undefined;
    let runner: Runner;
    try {
      request = await given(requestFor(this.#host, nonce, script.parts));
      runner = await this.#assign(request.line, command);
    } catch (error) {
      request?.release();
      stdin?.close();
      throw error;
    }
    const { release } = request;
    // In the same turn of the event loop, so that no output of the command is missed.
    const run: CommandRun = new CommandRun(command, {
      nonce,
      runner,
      reportsStart: script.reportsStart,
      stdin,
      outOfMemory: () => this.#outOfMemory(run),
      endings: this.#host.paces.endings,
      graceMs: this.#host.stopGraceMs,
      atPidsLimit: () => this.#host.groups?.atPidsLimit() ?? false,
      isEnding: async () => this.#isBroken || (await this.#host.isEnding?.()) === true,
      done: (outcome) => {
        release();
        this.#done(run, runner, outcome);
      },
    });
    this.#runs.set(run, { oom: false });
    await run.accepted;
    return run;
  }

  /** See `RunningSandbox.openShell`. `exec`: that of the sandbox. */
  async openShell(request: OpenShell, exec: (command: Command) => Promise<RunningCommand>): Promise<RunningShell> {
    this.#check(request.signal);
    return SessionShell.open(this.#host, exec, request);
  }

  /** See `RunningSandbox.network`. */
  async network(): Promise<NetworkState> {
    if (this.#host.hasNetwork || this.#network.isOpen) return 'present';
    const tried = await this.ask(hasTriedNetwork).catch(() => false);
    return tried ? 'tried' : 'absent';
  }

  /** See `RunningSandbox.setNetwork`. */
  setNetwork(variables: Readonly<Record<string, string>> | undefined, authorities?: string): void {
    if (this.#closed) throw this.#closed;
    this.#network.set(variables, authorities);
  }

  /** Before a stop (see `RunningSandbox.stop`). Commands in progress fail with `reason`, and no other begins. */
  async terminate(reason: string, grace: AbortSignal): Promise<void> {
    if (this.#closed || this.#host.stopGraceMs === 0 || grace.aborted) return;
    this.#stopping = new SandboxEnded(reason);
    const all = { runs: [...this.#runs.keys()], shells: this.#pool.shellPids() };
    await terminateAll(this.#host, all, this.#stopping, grace);
  }

  /**
   * The sandbox has ended or is ending: fails the commands in progress with UNAVAILABLE and closes all descriptors.
   * Never throws.
   */
  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = new SandboxEnded(reason);
    this.#lose(this.#closed);
    for (const run of [...this.#runs.keys()]) run.lose(this.#closed);
    this.#pool.close(this.#closed);
    this.#answer?.close();
    try {
      closeSync(this.#control);
    } catch {}
  }

  /** What `look` finds out about the sandbox by one of its processes. `idle`: pids inside, of shells without a command. */
  async ask<T>(look: (pid: number, idle: readonly number[]) => T | Promise<T>): Promise<T> {
    if (this.#closed) throw this.#closed;
    return askOneOf(await (this.#host.groups?.basePids() ?? []), (pid) => look(pid, this.#pool.idlePids()));
  }

  /**
   * Returns a runner that has received the command's line. An idle runner that no longer reads was stopped by a process
   * of the sandbox; it is killed and another one is used.
   */
  async #assign(line: string, command: Command): Promise<Runner> {
    for (;;) {
      const idle = this.#pool.takeIdle();
      const runner = idle ?? (await awaitRunner(this.#pool.next(), command, (late) => this.#pool.rest(late)));
      this.#check(command.signal, runner);
      try {
        runner.execute(line);
        return runner;
      } catch (error) {
        if (errorCode(error) !== 'EAGAIN') {
          this.#pool.rest(runner);
          throw hostError(error, NOT_TAKEN);
        }
        this.#pool.kill(runner);
        if (idle === undefined) {
          throw new ServiceError(
            'UNAVAILABLE',
            `${NOT_TAKEN}: its processes keep the shells that run commands from reading`,
          );
        }
      }
    }
  }

  #check(signal: AbortSignal, runner?: Runner): void {
    const error = this.#closed ?? this.#stopping ?? (signal.aborted ? cancelled() : undefined);
    if (!error) return;
    if (runner && !this.#closed) this.#pool.rest(runner);
    throw error;
  }

  /** Throws once closed: the descriptor number may have been reused by then. */
  #startRunner(name: string): void {
    if (this.#closed) throw this.#closed;
    try {
      writeSync(this.#control, `${name}\n`);
    } catch (cause) {
      if (errorCode(cause) !== 'EAGAIN') throw cause;
      throw new ServiceError('UNAVAILABLE', 'the sandbox’s agent does not read: its processes stopped it', [], {
        cause,
      });
    }
  }

  /** Called once for each run; never throws. */
  #done(run: CommandRun, runner: Runner, outcome: Outcome): void {
    if (outcome === 'garbage') {
      this.#broken(TAMPERED);
      return;
    }
    this.#runs.delete(run);
    if (outcome === 'unkillable') this.#broken('a command in it could not be ended');
    if (this.#closed) return;
    if (outcome === 'reusable') this.#pool.rest(runner);
    else if (outcome === 'left-behind') this.#pool.leave(runner);
    else this.#pool.kill(runner);
    if (outcome !== 'reusable') this.#pool.refill();
  }

  #broken(reason: string): void {
    this.#isBroken = true;
    if (!this.#closed) this.#host.onBroken(reason);
  }

  /** The kernel counts OOM kills for the whole sandbox, so every command in progress is marked. */
  #outOfMemory(run: CommandRun): string | undefined {
    const kills = this.#host.groups?.oomKills() ?? 0;
    if (kills > this.#oomKills) for (const state of this.#runs.values()) state.oom = true;
    this.#oomKills = kills;
    return this.#runs.get(run)?.oom ? this.#host.outOfMemory : undefined;
  }
}
