import { type ChildProcess, spawn } from 'node:child_process';
import { ServiceError } from '../../errors.ts';
import { hostError, isHostShort } from '../../host-error.ts';
import { errorCode } from '../../linux/errno.ts';
import { Answers } from './answers.ts';
import type { Handle } from './handles.ts';

/** Milliseconds for an answer: more than the process itself takes for a request that fails by time. */
const ANSWER_MS = 10_000;
/** Requests that are with the process at once; others wait for their turn. */
const MOST_AT_ONCE = 16;

interface Pending {
  line: string;
  answers: Answers;
  resolve: (answers: Answers) => void;
  reject: (error: Error) => void;
  timer?: NodeJS.Timeout;
}

/** Of `program.ts`: sockets have an index, the last message of a request has an errno. */
interface Message {
  id: number;
  index?: number;
  errno?: number;
  at?: string;
}

/** The process ended before the answer: what it did not answer is not done, and may be asked again of another one. */
export class HelperEnded extends ServiceError {
  constructor(cause?: Error) {
    super('UNAVAILABLE', 'the process that opens networks of sandboxes has ended', [], { cause });
  }
}

const WHAT = 'the process that opens networks of sandboxes could not be started';
const LATE = 'the process that opens networks of sandboxes does not answer';

/**
 * The process of `program.ts`. It has no environment, its own session, so that Ctrl-C at the server's terminal does not end it,
 * and the working directory `/`. It ends with its channel, which the end of this process closes. After `failure` it
 * is of no use.
 */
export class HelperProcess {
  readonly #child: ChildProcess;
  readonly #program: string;
  readonly #waiting: Pending[] = [];
  readonly #asked = new Map<number, Pending>();
  #last = 0;
  #failure: Error | undefined;

  constructor(program: string, args: readonly string[]) {
    this.#program = program;
    const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
    const child = spawn(program, args, { cwd: '/', env: {}, detached: true, stdio: [...stdio] });
    this.#child = child;
    child.on('error', (error) => this.#end(error));
    child.on('exit', () => this.#end(new HelperEnded()));
    child.on('disconnect', () => this.#end(new HelperEnded()));
    child.on('message', (message, handle) => this.#read(message as Message, handle as Handle | undefined));
    child.unref();
    child.channel?.unref();
  }

  /** Why it has ended; undefined while it runs. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves with the answer, also if that is a failure. Rejects if the process ends, also by `close`. */
  ask(line: string): Promise<Answers> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, answers: new Answers(), resolve, reject });
      this.#next();
    });
  }

  /** Kills it; idempotent. */
  close(): void {
    this.#end(new HelperEnded());
  }

  #next(): void {
    while (this.#asked.size < MOST_AT_ONCE && !this.#failure) {
      const pending = this.#waiting.shift();
      if (pending === undefined) return;
      const id = ++this.#last;
      // Holds the event loop while an answer is awaited.
      pending.timer = setTimeout(() => this.#end(new ServiceError('UNAVAILABLE', LATE)), ANSWER_MS);
      this.#asked.set(id, pending);
      // A process that could not be started reports an error; without descriptors it has no channel.
      if (!this.#child.connected) this.#end(new HelperEnded());
      else this.#child.send(`${id} ${pending.line}`, (error) => error && this.#end(new HelperEnded(error)));
    }
  }

  #read({ id, index, errno, at }: Message, handle: Handle | undefined): void {
    const pending = this.#asked.get(id);
    if (index !== undefined && handle) {
      if (pending) pending.answers.add(index, handle);
      else handle.close();
    } else if (pending && errno !== undefined) {
      pending.answers.end(errno, at ?? '');
      // Node reports a socket one step later than it reads it, and may report the end before.
      setImmediate(() => this.#done(id, pending));
    }
  }

  #done(id: number, pending: Pending): void {
    if (!this.#asked.delete(id)) return;
    clearTimeout(pending.timer);
    pending.resolve(pending.answers);
    this.#next();
  }

  #end(cause: Error): void {
    if (this.#failure) return;
    const missing = errorCode(cause) === 'ENOENT';
    const text = `the network of sandboxes needs ${this.#program} on the host, which is not installed`;
    this.#failure = missing ? new ServiceError('FAILED_PRECONDITION', text) : cause;
    // Without descriptors or processes for it another attempt fails, too.
    if (isHostShort(cause)) this.#failure = hostError(cause, WHAT) as Error;
    if (!(this.#failure instanceof ServiceError)) this.#failure = new HelperEnded(cause);
    // Without a pid, `kill` would send the signal to the server's own process group.
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL');
    if (this.#child.connected) this.#child.disconnect();
    for (const { timer, answers, reject } of [...this.#asked.values(), ...this.#waiting.splice(0)]) {
      clearTimeout(timer);
      answers.discard();
      reject(this.#failure);
    }
    this.#asked.clear();
  }
}
