import { randomUUID } from 'node:crypto';
import { readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Descriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import { closeQuietly } from '../../linux/close.ts';
import { commandLine } from '../../linux/command-line.ts';
import { innerPid } from '../../linux/inner-pid.ts';
import type { Shares } from '../../shares.ts';
import { bootLine, EXIT_LINE } from './agent-script.ts';
import { type FifoPool, openFifo } from './fifo-pool.ts';
import type { ProcessGroup, ProcessGroups } from './groups.ts';
import { PipeReader } from './pipe-reader.ts';
import type { ReadPaces } from './read-pace.ts';
import { type StatusLine, StatusParser } from './status.ts';

/** Descriptors per runner: four pipes, the list of its group, and the standard input of its command. */
const DESCRIPTORS = 6;

const NO_PROCESS = 'the sandbox could not start a runner for the command: it can start no further process';

const NOT_BEGUN = 'the command has not begun: the shell that was to run it was killed';

/** Milliseconds after which every process of a command on a terminal counts as its program. */
const STARTING_MS = 500;
/** Processes that are looked at: a command that is just being started has few. */
const MOST_STARTING = 8;

/** Returns 64 random bits in hexadecimal. Unlike randomBytes, Node prepares UUIDs many at a time. */
export function newNonce(): string {
  const id = randomUUID();
  // The version and the variant, which are not random, lie between.
  return id.slice(0, 8) + id.slice(-8);
}

export interface RunnerHost {
  /** Host directory shown at AGENT_DIR: owned by root, not listable inside. */
  dir: string;
  uid: number | undefined;
  /** See agentScript. */
  forks?: boolean;
  fifos: FifoPool;
  groups: ProcessGroups | undefined;
  scratch: Buffer;
  paces: ReadPaces;
  descriptors: Descriptors;
  /** Called when a command begins, and about each second while there are any. Must not throw. */
  onActive?: () => void;
  /** Whether the end of the sandbox has begun and will be reported. Never rejects. */
  isEnding?: () => Promise<boolean>;
  /** Byte budget of the file system of `dir`, shared by all sandboxes. */
  room: Shares<object>;
}

/**
 * The server's side of one runner: a shell inside that executes one command at a time. Its FIFOs are unlinked as soon
 * as both sides have opened them. It is put into its process group before its first command, so that all processes of a
 * command start in the group.
 */
export class Runner {
  readonly out: PipeReader;
  readonly err: PipeReader;
  /** Called with each status line; undefined: malformed data. */
  onStatus: (line: StatusLine | undefined) => void = () => {};
  /** Called when the runner's shell has exited. */
  onGone: () => void = () => {};
  /** Time of its last command; see `performance.now`. */
  executedAt = 0;
  #group: ProcessGroup | undefined;
  #pid: number | undefined;
  #innerPid: number | undefined;
  readonly #host: RunnerHost;
  readonly #request: number;
  readonly #status: PipeReader;
  /** Bytes of the last line. */
  #sent = 0;
  #closed = false;

  private constructor(host: RunnerHost, request: number, out: PipeReader, err: PipeReader, status: PipeReader) {
    this.#host = host;
    this.#request = request;
    this.out = out;
    this.err = err;
    this.#status = status;
    const parser = new StatusParser();
    status.sink = (data) => {
      for (const line of parser.push(data)) this.onStatus(line);
      return true;
    };
    void status.ended.then(() => this.onGone());
  }

  /**
   * Calls `start` to make the agent start a runner with the given name, and waits for its first status line (or until
   * `lost` settles).
   */
  static async create(host: RunnerHost, start: (name: string) => void, lost: Promise<never>): Promise<Runner> {
    if (!host.descriptors.commands.take(host, DESCRIPTORS)) {
      throw new ServiceError(
        'RESOURCE_EXHAUSTED',
        'the sandbox’s commands have all file descriptors of its share in use',
      );
    }
    const name = newNonce();
    const nonce = newNonce();
    const path = (kind: string) => join(host.dir, `${name}.${kind}`);
    const paths = ['req', 'out', 'err', 'sts'].map(path);
    let runner: Runner | undefined;
    try {
      await host.fifos.place(paths, host.uid);
      runner = Runner.#open(host, path);
      const up = runner.#hello(name, nonce);
      up.catch(() => {});
      writeSync(runner.#request, bootLine(name, nonce, host.forks === true));
      start(name);
      runner.#innerPid = await Promise.race([up, lost]);
      if (host.groups) {
        await host.paces.entries.next();
        await runner.#enter(host.groups, runner.#innerPid);
      }
      return runner;
    } catch (error) {
      if (runner) runner.close();
      else host.descriptors.commands.give(host, DESCRIPTORS);
      throw error;
    } finally {
      for (const each of paths) remove(each);
    }
  }

  /** Opens all four pipes or, if descriptors are short, none. */
  static #open(host: RunnerHost, path: (kind: string) => string): Runner {
    const fds: number[] = [];
    const readers: PipeReader[] = [];
    const { scratch, paces, fifos } = host;
    try {
      fds.push(openFifo(path('req'), 'both'));
      for (const kind of ['out', 'err', 'sts']) {
        const fd = openFifo(path(kind), 'read');
        fds.push(fd);
        const reader =
          kind === 'sts' ? new PipeReader(fd, scratch) : new PipeReader(fd, scratch, paces.commands, fifos.grow);
        readers.push(reader);
        fds.pop();
      }
    } catch (error) {
      fds.forEach(closeQuietly);
      for (const reader of readers) reader.close();
      throw error;
    }
    const [out, err, status] = readers;
    return new Runner(host, fds[0]!, out!, err!, status!);
  }

  #hello(name: string, nonce: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.onStatus = (line) => {
        if (line?.kind === 'h' && line.nonce === nonce) resolve(line.value);
        else if (line?.kind === 'f' && line.nonce === name) reject(new ServiceError('RESOURCE_EXHAUSTED', NO_PROCESS));
        else reject(new Error('the agent answered with garbage'));
      };
      this.onGone = () => reject(new Error('the runner ended before it answered'));
    });
  }

  async #enter(groups: ProcessGroups, reported: number): Promise<void> {
    const found = groups.basePids();
    const pids = Array.isArray(found) ? found : await found;
    // The newest pid comes last and is the usual match.
    const pid = pids.findLast((each) => innerPid(each) === reported);
    if (pid === undefined) throw new Error('the runner is not where it was started');
    this.#group = groups.addGroup();
    await this.#group.add(pid);
    this.#pid = pid;
  }

  /** Host pid of its shell, if that is known. */
  get shellPid(): number | undefined {
    return this.#pid;
  }

  /** Pid of its shell in the sandbox, as the shell told it. */
  get innerPid(): number | undefined {
    return this.#innerPid;
  }

  /** Resolves when every process has closed this runner's pipes. */
  get outputEnded(): Promise<unknown> {
    return Promise.all([this.out.ended, this.err.ended]);
  }

  /**
   * Sends the line of a command (see Request). Never blocks. Throws an error with code EAGAIN if the shell no
   * longer reads its requests (a process of the sandbox stopped it and filled the pipe); other errors are not the
   * runner's fault.
   */
  execute(line: string): void {
    this.executedAt = performance.now();
    this.#sent = writeSync(this.#request, line);
  }

  /** After the end of its shell: the error if it has read nothing of its last command. */
  unread(): ServiceError | undefined {
    if (this.#closed) return undefined;
    try {
      const rest = readSync(this.#request, Buffer.alloc(this.#sent + 1));
      return rest === this.#sent ? new ServiceError('UNAVAILABLE', NOT_BEGUN) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Whether no other process of its command is left (or this cannot be determined). False if in doubt. */
  alone(): boolean | Promise<boolean> {
    try {
      return this.#group === undefined || this.#pid === undefined || this.#group.holdsOnly(this.#pid);
    } catch {
      return false;
    }
  }

  /** Host pids of its command's processes, without its shell. Throws if they cannot be read. */
  pids(): number[] | Promise<number[]> {
    const without = (pids: number[]) => pids.filter((pid) => pid !== this.#pid);
    const pids = this.#host.descriptors.use(() => this.#group?.pids() ?? []);
    return Array.isArray(pids) ? without(pids) : pids.then(without);
  }

  /**
   * Sends a signal to its command's processes, not to its shell. Returns their number; 0 also if the command is just
   * being started, when nothing was sent. `keepsCopy`: a copy of the shell stays beside the program, as with a terminal.
   * Throws like `kill`.
   */
  async signal(signal: NodeJS.Signals, keepsCopy: boolean): Promise<number> {
    if (await this.#isStarting(keepsCopy)) return 0;
    return this.#host.descriptors.use(() => this.#group?.signal(signal, this.#pid ?? 0) ?? 0);
  }

  /**
   * Whether a copy of its shell, between fork(2) and execve(2), is still to become the program: bash as /bin/sh would
   * take the signal for itself, and it would be lost. Also true without any process: the copy may appear at any moment.
   */
  async #isStarting(keepsCopy: boolean): Promise<boolean> {
    if (this.#pid === undefined) return false;
    if (keepsCopy && performance.now() - this.executedAt > STARTING_MS) return false;
    const pids = await this.pids();
    if (pids.length === 0) return true;
    const own = await commandLine(this.#pid);
    for (const pid of pids.slice(0, MOST_STARTING)) if ((await commandLine(pid)) === own) return true;
    return false;
  }

  /** Throws only if no descriptor is free, not even of the reserve. */
  kill(): void | Promise<void> {
    return this.killer()();
  }

  /** Like `kill`, also after `close`; does not keep the runner in memory. */
  killer(): () => void | Promise<void> {
    const group = this.#group;
    const { descriptors } = this.#host;
    return () => descriptors.use(() => group?.kill());
  }

  /** Makes the shell exit; background processes live on. Returns false if the shell does not read. */
  retire(): boolean {
    if (this.#closed) return true;
    try {
      writeSync(this.#request, EXIT_LINE);
      return true;
    } catch {
      return false;
    }
  }

  /** Never throws. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeQuietly(this.#request);
    for (const pipe of [this.out, this.err, this.#status]) pipe.close();
    this.#group?.release();
    this.#host.descriptors.commands.give(this.#host, DESCRIPTORS);
  }
}

/** A remaining file is removed with the agent directory. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}
