import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { run } from './run.ts';

/** Makes everything on the disk of a directory durable: one syncfs(2) instead of thousands of fsync(2). */
export type SyncDisk = (directory: string) => Promise<void>;

/** Reads directories, one a line, and answers with the exit code of sync(1) for each. It ends with its input. */
const PROGRAM = 'while IFS= read -r directory; do sync -f "$directory"; echo "$?"; done';

/** `SyncDisk` by a process for each call. */
export const syncDisk: SyncDisk = async (directory) => {
  const path = resolve(directory);
  check(path, (await run('sync', ['-f', path])).code);
};

/**
 * `SyncDisk` by a small process that stays. Only a program can call syncfs(2), and to start one from a server takes longer than
 * most syncs: fork(2) copies the tables of all its pages, and every thread that writes to one waits meanwhile. The process is
 * started with the first call, and again after one that ended. Calls are served in their order.
 */
export class DiskSync {
  readonly #shell: string;
  #helper: Helper | undefined;

  constructor(shell = 'sh') {
    this.#shell = shell;
  }

  async sync(directory: string): Promise<void> {
    const path = resolve(directory);
    // Of a process that ended meanwhile there is no answer.
    const code = path.includes('\n') ? undefined : await this.#next().ask(path);
    if (code === undefined) await syncDisk(path);
    else check(path, code);
  }

  /** The process ends after the calls in progress. */
  close(): void {
    this.#helper?.close();
    this.#helper = undefined;
  }

  #next(): Helper {
    if (this.#helper?.hasEnded !== false) this.#helper = new Helper(this.#shell);
    return this.#helper;
  }
}

/** Does not keep the server's process alive, except by calls in progress. */
class Helper {
  readonly #child: ChildProcess;
  /** In the order of the answers. */
  readonly #waiting: ((code: number | undefined) => void)[] = [];
  #text = '';
  #ended = false;

  constructor(shell: string) {
    // A session of its own: Ctrl-C at the server's terminal is for the server.
    const options = { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'ignore'] as const };
    this.#child = spawn(shell, ['-c', PROGRAM], { ...options, stdio: [...options.stdio] });
    this.#child.on('error', () => this.#end());
    this.#child.on('close', () => this.#end());
    this.#child.stdin?.on('error', () => {});
    this.#child.stdout?.on('error', () => {});
    this.#child.stdout?.setEncoding('latin1').on('data', (data: string) => this.#read(data));
    this.#child.unref();
    (this.#child.stdin as Socket | null)?.unref();
    this.#hold();
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** undefined: it ended without an answer. */
  ask(path: string): Promise<number | undefined> {
    return new Promise((settle) => {
      this.#waiting.push(settle);
      this.#hold();
      this.#child.stdin?.write(`${path}\n`);
    });
  }

  close(): void {
    this.#child.stdin?.end();
  }

  #read(data: string): void {
    const lines = (this.#text + data).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#waiting.shift()?.(Number(line));
    this.#hold();
  }

  #hold(): void {
    const output = this.#child.stdout as Socket | null;
    if (this.#waiting.length > 0) output?.ref();
    else output?.unref();
  }

  #end(): void {
    this.#ended = true;
    for (const settle of this.#waiting.splice(0)) settle(undefined);
  }
}

function check(path: string, code: number | null): void {
  if (code !== 0) throw Object.assign(new Error(`sync -f ${path}: exit code ${code}`), { code: 'EIO' });
}
