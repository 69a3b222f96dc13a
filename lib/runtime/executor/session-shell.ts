import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { invalidArgument, ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import { closeQuietly } from '../../linux/close.ts';
import type {
  Command,
  OpenShell,
  RunningCommand,
  RunningShell,
  ShellCommand,
  ShellEnd,
  ShellExecution,
} from '../runtime.ts';
import { openFifo } from './fifo-pool.ts';
import { LongScript } from './long-script.ts';
import { removeQuietly, takeDescriptors } from './output-pipes.ts';
import { openPipeReader, type PipeReader } from './pipe-reader.ts';
import { newNonce, type RunnerHost } from './runner.ts';
import { endOf, KILLED_END, lost, noShell } from './shell-ends.ts';
import { ShellOutput } from './shell-output.ts';
import { ShellPipes } from './shell-pipes.ts';
import { ShellRun } from './shell-run.ts';
import { FIRST_COMMAND, type ShellRequest, shellCommandFile, shellRequest, shellStart } from './shell-script.ts';
import { type StatusLine, StatusParser } from './status.ts';
import { continueStopped } from './stopped-shells.ts';

/** Descriptors of a shell without its output pipes: of the requests and of the reports. */
const DESCRIPTORS = 2;
/** Milliseconds after which a program that has not answered its first command counts as no shell. */
const ANSWER_MS = 10_000;
/** Milliseconds between two looks whether a process has stopped the shell, while it runs a command. */
const LOOK_MS = 1000;
const NO_ANSWER = `the new shell of the session did not run a command within ${ANSWER_MS} ms`;
const NOT_GIVEN = 'the command could not be given to the session’s shell';
const TAMPERED = 'a process of the session wrote to the pipe on which its shell reports exit codes';

export interface ShellHost extends RunnerHost {
  outOfMemory: string;
}

/** Starts a command in the sandbox; see `RunningSandbox.exec`. */
type Exec = (command: Command) => Promise<RunningCommand>;

/**
 * The server's side of a session's shell. The shell is the program of a command of its own, so that its end is reported
 * exactly and all its processes are in one group. It reads requests from one FIFO and reports each command's exit code on
 * another; both keep their files, so that the shell has no descriptor of them that a command could close.
 */
export class SessionShell implements RunningShell {
  readonly ended: Promise<ShellEnd>;
  #path = '';
  readonly #host: ShellHost;
  readonly #name: string;
  readonly #request: number;
  readonly #status: PipeReader;
  readonly #abort = new AbortController();
  readonly #own = new ShellOutput();
  #process: RunningCommand | undefined;
  #run: { nonce: string; run: ShellRun } | undefined;
  readonly #pipes: ShellPipes;
  /** Its processes while it is idle; undefined: not known yet. */
  #idlePids: ReadonlySet<number> | undefined;
  #previous = 0;
  #end: ShellEnd | undefined;
  #fault: string | undefined;
  #resolveEnded!: (end: ShellEnd) => void;

  private constructor(host: ShellHost, name: string, request: number, status: PipeReader) {
    this.#host = host;
    this.#name = name;
    this.#request = request;
    this.#status = status;
    this.#pipes = new ShellPipes(host);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    const parser = new StatusParser();
    status.sink = (data) => {
      for (const line of parser.push(data)) this.#onStatus(line);
      return this.#fault === undefined;
    };
  }

  /** See `RunningSandbox.openShell`. */
  static async open(host: ShellHost, exec: Exec, request: OpenShell): Promise<SessionShell> {
    const opened = await SessionShell.#prepare(host);
    const { signal } = request;
    const cancel = () => opened.#abort.abort();
    try {
      if (signal.aborted) throw new ServiceError('CANCELLED', 'the client disconnected');
      signal.addEventListener('abort', cancel, { once: true });
      await opened.#start(exec, request);
      return opened;
    } catch (error) {
      await opened.close();
      throw signal.aborted ? new ServiceError('CANCELLED', 'the client disconnected') : error;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  static async #prepare(host: ShellHost): Promise<SessionShell> {
    takeDescriptors(host, DESCRIPTORS);
    const name = newNonce();
    const paths = ['req', 'sts'].map((kind) => join(host.dir, `${name}.${kind}`));
    let request: number | undefined;
    try {
      await host.fifos.place(paths, host.uid);
      request = openFifo(paths[0]!, 'both');
      return new SessionShell(host, name, request, openPipeReader(paths[1]!, 'both', host.scratch));
    } catch (error) {
      if (request !== undefined) closeQuietly(request);
      paths.forEach(removeQuietly);
      host.descriptors.commands.give(host, DESCRIPTORS);
      throw hostError(error, 'the shell of the session could not be started');
    }
  }

  get path(): string {
    return this.#path;
  }

  get end(): ShellEnd | undefined {
    return this.#end;
  }

  /** See `RunningShell`. */
  async run(command: ShellCommand): Promise<ShellExecution> {
    const { signal } = command;
    if (this.#run) throw new Error('the shell is busy');
    if (command.command.includes('\0')) throw invalidArgument('command', 'must have no NUL');
    const nonce = newNonce();
    const pipes = await this.#given(this.#pipes.take());
    const asked = { nonce, command: command.command, output: pipes.name, status: `${this.#name}.sts` };
    const request: ShellRequest = { ...asked, merge: command.merge ?? false, previous: this.#previous };
    const file = shellCommandFile(request);
    const script = file && (await this.#given(LongScript.write(this.#host, `${nonce}.cmd`, file)));
    try {
      if (this.#end) throw this.#end.error ?? new ServiceError('UNAVAILABLE', `the session's shell has ended`);
      if (signal.aborted) throw new ServiceError('CANCELLED', 'the client disconnected');
      this.#own.clear();
      const oomKills = this.#oomKills();
      const looking = setInterval(() => continueStopped(this.#idlePids ?? [], this.#host.uid), LOOK_MS).unref();
      const run: ShellRun = new ShellRun(command, {
        pipes,
        endings: this.#host.paces.endings,
        alone: () => this.#isAlone(),
        outOfMemory: () => (this.#oomKills() > oomKills ? this.#host.outOfMemory : undefined),
        kill: () => this.#abort.abort(),
        done: (reusable) => {
          clearInterval(looking);
          script?.release();
          this.#run = undefined;
          this.#pipes.ended(pipes, reusable);
        },
      });
      this.#run = { nonce, run };
      this.#send(shellRequest(request, script?.line));
      return run;
    } catch (error) {
      script?.release();
      throw hostError(error, NOT_GIVEN);
    }
  }

  /** Converts errors of the host, also those of a sandbox that has ended meanwhile. */
  async #given<T>(preparing: Promise<T>): Promise<T> {
    try {
      return await preparing;
    } catch (error) {
      throw this.#end?.error ?? hostError(error, NOT_GIVEN);
    }
  }

  /** See `RunningShell`. */
  async close(): Promise<void> {
    this.#abort.abort();
    if (this.#process === undefined) this.#finish(KILLED_END);
    await this.ended;
  }

  async #start(exec: Exec, { shell, env, workdir, ownWorkdir, replaces = false }: OpenShell): Promise<void> {
    const command = shellStart(shell, this.#name);
    const { signal } = this.#abort;
    this.#process = await exec({ command, stdin: '', env, workdir, ownWorkdir, timeoutMs: undefined, signal });
    const path = this.#own.firstLine();
    void this.#watch(this.#process);
    this.#path = await Promise.race([path, this.ended.then(({ error }) => (error ? Promise.reject(error) : ''))]);
    if (this.#path === '') throw noShell(shell, 'the sandbox has no such program');
    const answer = await this.#answer();
    if (answer === 'late' && replaces) throw new ServiceError('UNAVAILABLE', NO_ANSWER);
    if (answer !== 0) throw noShell(shell, 'it does not run commands as a POSIX shell does');
    const pids = await this.#process.pids();
    this.#idlePids = new Set(pids);
  }

  /** Runs the first command and returns its exit code; undefined: the shell has ended. */
  async #answer(): Promise<number | 'late' | undefined> {
    const { signal } = this.#abort;
    try {
      for await (const event of await this.run({ command: FIRST_COMMAND, timeoutMs: ANSWER_MS, signal })) {
        if (event.kind === 'exit' && this.#end === undefined) return event.exitCode;
      }
    } catch (error) {
      const ended = this.#end !== undefined && this.#end.error === undefined && !this.#end.killed;
      const late = error instanceof ServiceError && error.code === 'DEADLINE_EXCEEDED';
      if (late) return 'late';
      if (!ended) throw error;
    }
    return undefined;
  }

  /** From the start of the shell to its end. Never rejects. */
  async #watch(process: RunningCommand): Promise<void> {
    let end = KILLED_END;
    try {
      for await (const event of process) {
        if (event.kind === 'output') this.#own.add(event);
        else end = endOf(event.exitCode, event.outOfMemory);
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) end = { ...KILLED_END, killed: false, error: lost(error) };
    }
    if (this.#fault !== undefined) end = { ...KILLED_END, reason: this.#fault, killed: false };
    await process.endLeftBehind?.();
    this.#finish(end);
  }

  #finish(end: ShellEnd): void {
    if (this.#end) return;
    this.#end = end;
    closeQuietly(this.#request);
    this.#status.close();
    for (const kind of ['req', 'sts']) removeQuietly(join(this.#host.dir, `${this.#name}.${kind}`));
    this.#host.descriptors.commands.give(this.#host, DESCRIPTORS);
    this.#pipes.close(this.#run !== undefined);
    this.#run?.run.shellEnded(end, () => this.#own.pieces());
    this.#resolveEnded(end);
  }

  #onStatus(line: StatusLine | undefined): void {
    const current = this.#run;
    if (current && line?.nonce === current.nonce && line.kind === 'x' && line.value <= 255) {
      this.#previous = line.value;
      current.run.reported(line.value);
      return;
    }
    this.#fault = TAMPERED;
    this.#abort.abort();
  }

  /** If the shell does not read, a process stopped it and filled the pipe. */
  #send(request: string): void {
    try {
      writeSync(this.#request, request);
    } catch {
      this.#fault = 'a process of the session keeps its shell from reading';
      this.#abort.abort();
    }
  }

  async #isAlone(): Promise<boolean> {
    try {
      const idle = this.#idlePids;
      return idle === undefined || (await this.#process!.pids()).every((pid) => idle.has(pid));
    } catch {
      return false;
    }
  }

  #oomKills(): number {
    return this.#host.groups?.oomKills() ?? 0;
  }
}
