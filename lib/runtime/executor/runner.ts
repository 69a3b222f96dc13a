import { randomBytes } from 'node:crypto';
import { closeSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { bootLine, EXIT_LINE } from './agent-script.ts';
import { type FifoPool, openFifo } from './fifo-pool.ts';
import type { ProcessGroup, ProcessGroups } from './groups.ts';
import { PipeReader } from './pipe-reader.ts';
import { AGENT_DIR } from './places.ts';
import { type StatusLine, StatusParser } from './status.ts';

/** Always fits an empty FIFO in one write (PIPE_BUF), also where the kernel has cut the user's pipes to one page. */
const MAX_INLINE = 4096;

export const newNonce = (): string => randomBytes(8).toString('hex');

export interface RunnerHost {
  /** Host directory shown at AGENT_DIR: root-owned, not listable inside. */
  dir: string;
  uid: number | undefined;
  fifos: FifoPool;
  groups: ProcessGroups | undefined;
  scratch: Buffer;
}

/**
 * The server's side of one runner: a shell inside that executes one command at a time. Its pipes lose their names as
 * soon as both sides hold them. Its process group is set before it is given anything to do, so whatever a command
 * starts is born in it.
 */
export class Runner {
  readonly out: PipeReader;
  readonly err: PipeReader;
  /** Called with each line; undefined: garbage. */
  onStatus: (line: StatusLine | undefined) => void = () => {};
  /** Called when the runner's shell is gone. */
  onGone: () => void = () => {};
  #group: ProcessGroup | undefined;
  #pid: number | undefined;
  readonly #dir: string;
  readonly #request: number;
  readonly #status: PipeReader;
  /** A request too long for the pipe, on disk while it is read. */
  #script: string | undefined;
  #closed = false;

  private constructor(dir: string, request: number, out: PipeReader, err: PipeReader, status: PipeReader) {
    this.#dir = dir;
    this.#request = request;
    this.out = out;
    this.err = err;
    this.#status = status;
    const parser = new StatusParser();
    status.sink = (data) => {
      for (const line of parser.push(data)) this.onStatus(line);
      return true;
    };
    status.ended.then(() => this.onGone());
  }

  /** Has `start` make the agent start a runner of the given name, and waits until it answers (or `lost` settles). */
  static async create(host: RunnerHost, start: (name: string) => void, lost: Promise<never>): Promise<Runner> {
    const name = newNonce();
    const nonce = newNonce();
    const path = (kind: string) => join(host.dir, `${name}.${kind}`);
    const paths = ['req', 'out', 'err', 'sts'].map(path);
    let runner: Runner | undefined;
    try {
      await host.fifos.place(paths, host.uid);
      runner = Runner.#open(host, path);
      const up = runner.#hello(nonce);
      up.catch(() => {});
      writeSync(runner.#request, bootLine(name, nonce));
      start(name);
      const innerPid = await Promise.race([up, lost]);
      if (host.groups) runner.#enter(host.groups, name, innerPid);
      return runner;
    } catch (error) {
      runner?.close();
      throw error;
    } finally {
      for (const each of paths) rmSync(each, { force: true });
    }
  }

  /** All four pipes, or (short of descriptors) none. */
  static #open(host: RunnerHost, path: (kind: string) => string): Runner {
    const fds: number[] = [];
    try {
      fds.push(openFifo(path('req'), 'both'));
      for (const kind of ['out', 'err', 'sts']) fds.push(openFifo(path(kind), 'read'));
    } catch (error) {
      fds.forEach(closeSync);
      throw error;
    }
    const [request, ...outputs] = fds;
    const [out, err, status] = outputs.map((fd) => new PipeReader(fd, host.scratch));
    return new Runner(host.dir, request!, out!, err!, status!);
  }

  #hello(nonce: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.onStatus = (line) => {
        if (line?.kind === 'h' && line.nonce === nonce) resolve(line.value);
        else reject(new Error('the agent answered with garbage'));
      };
      this.onGone = () => reject(new Error('the runner ended before it answered'));
    });
  }

  #enter(groups: ProcessGroups, name: string, innerPid: number): void {
    const pid = groups.basePids().find((each) => pidInside(each) === innerPid);
    if (pid === undefined) throw new Error('the runner is not where it was started');
    this.#group = groups.addGroup(name);
    this.#group.add(pid);
    this.#pid = pid;
  }

  /** Resolves when every process that held this runner's pipes has let go of them. */
  get outputEnded(): Promise<unknown> {
    return Promise.all([this.out.ended, this.err.ended]);
  }

  execute(text: string): void {
    let line = text;
    if (Buffer.byteLength(text) > MAX_INLINE) {
      // Read by this shell before anything of the command runs; removed when the runner answers.
      const name = `${newNonce()}.cmd`;
      writeFileSync(join(this.#dir, name), text, { mode: 0o444, flag: 'wx' });
      this.#script = join(this.#dir, name);
      line = `. ${AGENT_DIR}/${name}\n`;
    }
    writeSync(this.#request, line);
  }

  /** Forgets what the last command needed. */
  settle(): void {
    if (this.#script !== undefined) rmSync(this.#script, { force: true });
    this.#script = undefined;
  }

  /** True when nothing of its command is left but the runner itself (or nobody can tell). */
  get alone(): boolean {
    return this.#group?.pids().every((pid) => pid === this.#pid) ?? true;
  }

  kill(): void {
    this.#group?.kill();
  }

  /** Tells the shell to end; what its last command left behind lives on. */
  retire(): void {
    if (!this.#closed) writeSync(this.#request, EXIT_LINE);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.settle();
    closeSync(this.#request);
    for (const pipe of [this.out, this.err, this.#status]) pipe.close();
    this.#group?.release();
  }
}

/** The pid of a host process in the innermost pid namespace it is in (proc_pid_status(5), NSpid). */
function pidInside(pid: number): number | undefined {
  try {
    return Number(/^NSpid:.*\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]);
  } catch {
    return undefined;
  }
}
