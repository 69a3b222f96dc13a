import type { ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Children at once. Each works for one sandbox, for as long as that or the disk needs: those of one must not occupy all. */
const MOST = 64;
/** Children that are kept when they have nothing to do. */
const KEPT = 2;
/** Milliseconds until a child that does not answer is killed. The threat: a program holds a lease on the file. */
export const PATIENCE_MS = 10_000;

interface Unreferenced {
  unref?(): void;
}

/** Answers each line of its input with one: 1 if it could do what the line asks for, else 0. */
export type AnsweringProcess = ChildProcessByStdio<Writable, Readable, null>;

interface Child {
  /** undefined: it could not be started. */
  process: AnsweringProcess | undefined;
  /** Receives the next line; undefined: the child has ended. */
  answer: (line: string | undefined) => void;
  ended: boolean;
}

/**
 * Children that use the mount for this process: a process that is killed while it waits for its own mount never ends. They are
 * started at need and kept; each works for one sandbox at a time. The caller calls `close`.
 */
export class Children {
  readonly #spawn: () => AnsweringProcess;
  readonly #idle: Child[] = [];
  readonly #waiting: ((child: Child | undefined) => void)[] = [];
  #started = 0;
  #closed = false;

  constructor(spawnChild: () => AnsweringProcess) {
    this.#spawn = spawnChild;
  }

  /**
   * Sends lines to a child, each after the answer to the one before. Returns whether it could do them all; undefined: it had to
   * be killed.
   */
  async ask(lines: Iterable<string>): Promise<boolean | undefined> {
    if (this.#closed) return false;
    const child = this.#idle.pop() ?? (this.#started < MOST ? this.#start() : await this.#next());
    if (child === undefined) return false;
    const patience = setTimeout(() => child.process?.kill('SIGKILL'), PATIENCE_MS);
    let all = true;
    try {
      for (const line of lines) all = (await asked(child, line)) === '1' && all;
    } finally {
      clearTimeout(patience);
      this.#done(child);
    }
    return child.process?.killed ? undefined : all;
  }

  /** Ends the children when they have answered. */
  close(): void {
    this.#closed = true;
    for (const { process } of this.#idle.splice(0)) process?.stdin.end();
    for (const wait of this.#waiting.splice(0)) wait(undefined);
  }

  #start(): Child {
    this.#started++;
    return start(this.#spawn);
  }

  #next(): Promise<Child | undefined> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #done(child: Child): void {
    const wait = this.#waiting.shift();
    if (child.ended || child.process?.killed) {
      this.#started--;
      wait?.(this.#start());
    } else if (wait !== undefined) wait(child);
    else if (!this.#closed && this.#idle.length < KEPT) this.#idle.push(child);
    else {
      this.#started--;
      child.process?.stdin.end();
    }
  }
}

/** The child's answer to one line; undefined if it has ended. */
function asked(child: Child, line: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (child.ended) return resolve(undefined);
    child.answer = resolve;
    child.process?.stdin.write(`${line}\n`);
  });
}

/** A child that could not be started has ended: the caller must not wait for it, nor the next one. */
function start(spawnChild: () => AnsweringProcess): Child {
  const child: Child = { process: undefined, answer: () => undefined, ended: false };
  const end = () => {
    child.ended = true;
    child.answer(undefined);
  };
  try {
    const process = spawnChild();
    process.on('error', end);
    // Fails if no descriptor is free: then there are no streams.
    process.stdin.on('error', () => {});
    const lines = createInterface({ input: process.stdout });
    lines.on('line', (line) => child.answer(line));
    lines.on('close', end);
    // An idle child does not keep the server running.
    for (const each of [process, process.stdin, process.stdout]) (each as Unreferenced).unref?.();
    child.process = process;
  } catch {
    end();
  }
  return child;
}
