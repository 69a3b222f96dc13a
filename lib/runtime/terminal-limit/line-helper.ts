import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Characters of an answer; a longer one ends the process. */
const MAX_LINE = 256;
/** Milliseconds from one answer to the next while answers are waited for. */
const ANSWER_MS = 10_000;

interface Waiting {
  resolve: (line: string) => void;
  reject: (error: Error) => void;
}

/**
 * A process that answers each line on its standard input by one line, in order. It has its own session, so that Ctrl-C at the
 * server's terminal does not end it, and no environment. It must end with its standard input, which the end of the
 * server closes, and keeps the server alive only while an answer is awaited. The owner closes it.
 */
export class LineHelper {
  readonly #child: ChildProcess;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #text = '';
  #failure: Error | undefined;

  /** Throws if the host has no room for a process; a missing program is reported by the first answer. */
  constructor(program: string, args: readonly string[]) {
    const child = spawn(program, args, { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child = child;
    child.on('error', (error) => this.#end(error));
    child.on('close', () => this.#end(new Error('the helper process has ended')));
    child.stdin?.on('error', () => {});
    child.stdout?.on('error', () => {});
    child.stdout?.on('end', () => this.#end(new Error('the helper process closed its output')));
    child.stdout?.setEncoding('latin1').on('data', (text: string) => this.#read(text));
    child.unref();
    (child.stdin as Socket | null)?.unref();
    (child.stdout as Socket | null)?.unref();
  }

  /** Why it has ended; undefined while it runs. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Rejects if it ends, also by `close`. */
  ask(line: string): Promise<string> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#waiting.length === 1) this.#startTimer();
      this.#child.stdin?.write(`${line}\n`);
    });
  }

  /** Kills it; idempotent. */
  close(): void {
    this.#end(new Error('the helper process was closed'));
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    // Holds the event loop while an answer is awaited: a server that starts has nothing else to do.
    this.#timer = setTimeout(() => this.#end(new Error('the helper process does not answer')), ANSWER_MS);
  }

  #read(text: string): void {
    const lines = (this.#text + text).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#waiting.shift()?.resolve(line);
    this.#startTimer();
    if (this.#text.length > MAX_LINE) this.#end(new Error('the helper process wrote too much'));
  }

  #end(failure: Error): void {
    if (this.#failure) return;
    this.#failure = failure;
    clearTimeout(this.#timer);
    // Without a pid, `kill` would send the signal to the server's own process group.
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL');
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(failure);
  }
}
