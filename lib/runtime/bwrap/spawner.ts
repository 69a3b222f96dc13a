import { type ChildProcess, spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { READ_BYTES } from '../executor/pipe-reader.ts';
import { PROCESS } from './prelude.ts';
import { SILENT, SpawnedProcess } from './spawned-process.ts';
import { spawnerProgram } from './spawner-program.ts';
import { endOfBwrap, type WaitingProcess } from './waiting-process.ts';

/** Milliseconds for the process to be ready. */
const READY_MS = 10_000;
/** Characters of a line that it may write. */
const MAX_LINE = 4096;
const GONE = 'the process that starts sandboxes has ended';
/** Milliseconds for the answer to a request. */
const ANSWER_MS = 10_000;
/** Parts of that: one counts for any time in which this process itself did not run. */
const TICKS = 10;

/** Words of a request: without blanks, and without characters that end a line. */
const encode = (word: string): string => encodeURIComponent(word).replace(/%2F/g, '/');

/**
 * The process of `spawnerProgram`, the parent of all sandboxes that it started: when it ends, they do. It holds the event loop
 * while it has any. `open` starts it.
 *
 * While it does not answer (it was stopped, or gets no CPU), its sandboxes live, and what was asked of it fails.
 */
export class Spawner {
  readonly #child: ChildProcess;
  readonly #processes = new Map<number, SpawnedProcess>();
  /** Requests for FIFOs without an answer. */
  readonly #making = new Map<number, (error?: Error) => void>();
  readonly #ready: Promise<void>;
  readonly #answerMs: number;
  #silent = false;
  #settle: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #last = 0;
  /** Not sent yet. */
  #requests = '';
  #text = '';
  #failure: Error | undefined;

  private constructor(program: string, text: string, answerMs: number) {
    this.#answerMs = answerMs;
    const child = spawn(program, ['-e', text, '--', String(process.pid)], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.#ready = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    child.on('error', (error) => this.#end(error));
    child.on('exit', () => this.#end(new ServiceError('UNAVAILABLE', GONE)));
    child.stdin?.on('error', () => {});
    child.stdout?.on('error', () => {});
    child.stdout?.setEncoding('latin1').on('data', (data: string) => this.#read(data));
    child.unref();
    (child.stdin as Socket | null)?.unref();
    (child.stdout as Socket | null)?.unref();
  }

  /** Rejects if this host has no such program, or another architecture than those it knows. */
  static async open(
    program = 'perl',
    {
      architecture = process.arch,
      answerMs = ANSWER_MS,
    }: { architecture?: NodeJS.Architecture; answerMs?: number } = {},
  ): Promise<Spawner> {
    const text = spawnerProgram(PROCESS, architecture);
    if (text === undefined) throw new Error(`no spawner for ${architecture}`);
    const spawner = new Spawner(program, text, answerMs);
    const timer = setTimeout(() => spawner.#end(new Error('the spawner does not answer')), READY_MS);
    try {
      await spawner.#ready;
      return spawner;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Why it has ended; undefined while it runs. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Whether a request has had no answer in time, and none has come since. */
  get isSilent(): boolean {
    return this.#silent;
  }

  /** Starts a process that enters the cgroups of these cgroup.procs files. */
  start(entries: readonly string[], niceness: number | undefined): WaitingProcess {
    const id = ++this.#last;
    const spawned = new SpawnedProcess((what, words) => {
      this.#send(what, id, words);
      if (what === 'l') this.#expectAnswer(spawned);
    });
    if (this.#failure) {
      spawned.end(GONE);
      return spawned;
    }
    this.#processes.set(id, spawned);
    this.#hold();
    this.#send('s', id, [niceness === undefined ? '-' : String(niceness), ...entries]);
    this.#expectAnswer(spawned);
    return spawned;
  }

  /** See `MakeFifos`. */
  makeFifos(paths: readonly string[]): Promise<void> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(this.#failure);
        return;
      }
      let left = TICKS;
      const timer = setInterval(() => {
        if (--left > 0) return;
        this.#fallSilent();
        this.#making.get(id)?.(new ServiceError('UNAVAILABLE', SILENT));
        this.#making.delete(id);
        this.#hold();
      }, this.#answerMs / TICKS);
      this.#making.set(id, (error) => {
        clearInterval(timer);
        if (error === undefined) resolve();
        else reject(error);
      });
      this.#hold();
      this.#send('n', id, paths);
    });
  }

  /** Ends the processes that wait for a program: with the next launch they would be told it in vain. */
  #fallSilent(): void {
    this.#silent = true;
    for (const spawned of this.#processes.values()) if (!spawned.isLaunched) spawned.giveUp(this.#child.pid);
  }

  /** Ends the process if the requests for it so far are not read in time. Requests are answered in their order. */
  #expectAnswer(spawned: SpawnedProcess): void {
    this.makeFifos([]).catch(() => spawned.giveUp(this.#child.pid));
  }

  /** See `GrowPipe`. The spawner knows the pipe by its inode: the descriptor may be another file's when it looks. */
  growPipe(fd: number): void {
    this.#send('g', ++this.#last, [fd, fstatSync(fd).ino, READ_BYTES].map(String));
  }

  /** Ends it, and every process that it started. Idempotent. */
  close(): void {
    this.#end(new ServiceError('UNAVAILABLE', 'the spawner was closed'));
  }

  #send(what: string, id: number, words: readonly string[]): void {
    if (this.#requests === '') queueMicrotask(() => this.#flush());
    this.#requests += `${[what, id, ...words.map(encode)].join(' ')}\n`;
  }

  /** One write for all requests of a turn: each wakes the spawner. */
  #flush(): void {
    if (!this.#failure) this.#child.stdin?.write(this.#requests, 'latin1');
    this.#requests = '';
  }

  #read(data: string): void {
    this.#silent = false;
    const lines = (this.#text + data).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    if (this.#text.length > MAX_LINE) this.#end(new ServiceError('UNAVAILABLE', 'the spawner wrote too much'));
  }

  #take(line: string): void {
    const [what, word, value = ''] = line.split(' ');
    if (what === 'r') this.#settle?.resolve();
    const id = Number(word);
    if (what === 'n') this.#made(id, Number(value));
    const spawned = this.#processes.get(id);
    if (spawned === undefined) return;
    if (what === 'p') spawned.begin(Number(value));
    if (what === 'o') spawned.hear(textOf(value));
    if (what === 'x') spawned.end(endOfBwrap(statusOf(Number(value))));
    if (what === 'f') spawned.end(`could not start a process (${getSystemErrorName(-Number(value))})`);
    if (what === 'x' || what === 'f') this.#remove(id);
  }

  #made(id: number, errno: number): void {
    const settle = this.#making.get(id);
    this.#making.delete(id);
    this.#hold();
    if (errno === 0) settle?.();
    else {
      const code = getSystemErrorName(-errno);
      settle?.(Object.assign(new Error(`${code}: mknod`), { code, errno: -errno }));
    }
  }

  #remove(id: number): void {
    this.#processes.delete(id);
    this.#hold();
  }

  /** Holds the event loop while something is to come. */
  #hold(): void {
    const output = this.#child.stdout as Socket;
    if (this.#processes.size + this.#making.size > 0) output.ref();
    else output.unref();
  }

  #end(failure: Error): void {
    if (this.#failure) return;
    this.#failure = failure;
    // Without a pid, `kill` would send the signal to the server's own process group.
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL');
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#settle?.reject(failure);
    for (const spawned of this.#processes.values()) spawned.end(GONE);
    this.#processes.clear();
    for (const settle of this.#making.values()) settle(failure);
    this.#making.clear();
  }
}

const textOf = (word: string): string => {
  const octets = word.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1').toString();
};

/** Of wait(2). */
function statusOf(status: number): string {
  const signal = status & 0x7f;
  if (signal === 0) return `exit code ${status >> 8}`;
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ?? `signal ${signal}`;
}
