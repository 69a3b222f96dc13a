import { setTimeout as delay } from 'node:timers/promises';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import { hostError } from '../host-error.ts';
import { DEATH_MS } from './command-run.ts';
import { Runner, type RunnerHost } from './runner.ts';

/** Idle runners kept for the next commands; each is a shell of about 150 kB. */
const MAX_IDLE = 8;
/** Commands at once in one sandbox. */
const MAX_RUNNERS = 512;
/** Runners of ended commands whose background processes still hold the pipes; the oldest are let go above it. */
const MAX_LEFT_BEHIND = 64;
/** An agent that takes longer to start a runner was stopped, or the machine is past use. */
const AGENT_MS = 60_000;
const CANNOT_START = 'the sandbox could not start a runner for the command';

export interface PoolHost {
  runners: RunnerHost;
  /** Makes the agent start a runner of this name. */
  start: (name: string) => void;
  /** Rejects when the sandbox is gone. */
  lost: Promise<never>;
  tampered: () => void;
  stuck: () => void;
}

/** The runners of one sandbox, from their start to their end. Nothing here throws out of a callback. */
export class RunnerPool {
  readonly #host: PoolHost;
  readonly #runners = new Set<Runner>();
  readonly #idle: Runner[] = [];
  #leftBehind: Runner[] = [];
  #creating = 0;
  #closed: ServiceError | undefined;

  constructor(host: PoolHost) {
    this.#host = host;
  }

  /** One that waits for a command; the caller's until `rest`, `retire`, `leave` or `kill`. */
  takeIdle(): Runner | undefined {
    const runner = this.#idle.pop();
    if (runner) this.#pace(runner, 'commands');
    return runner;
  }

  async create(): Promise<Runner> {
    if (this.#runners.size - this.#leftBehind.length + this.#creating >= MAX_RUNNERS) {
      throw new ServiceError('RESOURCE_EXHAUSTED', `the sandbox runs ${MAX_RUNNERS} commands already`);
    }
    this.#creating++;
    const stuck = setTimeout(this.#host.stuck, AGENT_MS);
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

  /** An idle runner says nothing, and one whose shell was killed is no longer there. */
  rest(runner: Runner): void {
    if (this.#idle.length >= MAX_IDLE) {
      this.retire(runner);
      return;
    }
    this.#idle.push(runner);
    this.#pace(runner, 'dropped');
    runner.onStatus = this.#host.tampered;
    runner.onGone = () => {
      const index = this.#idle.indexOf(runner);
      if (index >= 0) this.#idle.splice(index, 1);
      this.#discard(runner);
    };
  }

  /** Nothing but the runner itself is in it. */
  retire(runner: Runner): void {
    if (runner.retire()) this.leave(runner);
    else this.kill(runner);
  }

  /** Its background processes live on; their output is read and dropped until they let go of the pipes. */
  leave(runner: Runner): void {
    this.#leftBehind.push(runner);
    this.#pace(runner, 'dropped');
    runner.out.resume();
    runner.err.resume();
    void runner.outputEnded.then(() => this.#discard(runner));
    if (this.#leftBehind.length > MAX_LEFT_BEHIND) this.#discard(this.#leftBehind[0]!);
  }

  /** With whatever is left of its command. */
  kill(runner: Runner): void {
    try {
      void runner.kill();
    } catch {
      // Short of descriptors: it is in the sandbox's cgroups, and ends with the sandbox.
    }
    this.#discard(runner);
  }

  /** So that the command after a lost runner does not wait for a new one. */
  refill(): void {
    if (this.#idle.length > 0 || this.#creating > 0) return;
    this.create().then(
      (runner) => this.rest(runner),
      () => {},
    );
  }

  /** Gives all descriptors back. */
  close(error: ServiceError): void {
    this.#closed = error;
    for (const runner of this.#runners) runner.close();
    this.#runners.clear();
    this.#idle.length = 0;
  }

  #pace({ out, err }: Runner, which: 'commands' | 'dropped'): void {
    const pace = this.#host.runners.paces[which];
    out.pace = pace;
    err.pace = pace;
  }

  #attempt(): Promise<Runner> {
    return Runner.create(this.#host.runners, this.#host.start, this.#host.lost);
  }

  /**
   * A new runner can be killed from inside before it is anywhere: once more then. If the whole sandbox was, that is
   * known a moment later.
   */
  async #again(error: unknown): Promise<Runner> {
    if (error instanceof ServiceError) throw error;
    if (isOutOfDescriptors(error)) throw hostError(error, CANNOT_START);
    await Promise.race([delay(DEATH_MS), this.#host.lost]);
    return this.#attempt().catch((cause: unknown) => {
      const told = hostError(cause, CANNOT_START);
      throw told instanceof ServiceError ? told : new ServiceError('UNAVAILABLE', CANNOT_START, [], { cause });
    });
  }

  #discard(runner: Runner): void {
    runner.close();
    this.#runners.delete(runner);
    this.#leftBehind = this.#leftBehind.filter((each) => each !== runner);
  }
}
