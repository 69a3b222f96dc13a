import { setTimeout as delay } from 'node:timers/promises';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import { DEATH_MS } from './command-run.ts';
import { Runner, type RunnerHost } from './runner.ts';

/** Idle runners kept for the next commands; each is a shell of about 150 kB. */
const MAX_IDLE = 8;
/** Maximum number of simultaneous commands in one sandbox. */
const MAX_RUNNERS = 512;
/**
 * Maximum number of runners of finished commands whose background processes still hold the pipes; above it the oldest
 * are released.
 */
const MAX_LEFT_BEHIND = 64;
/** Milliseconds after which an agent that has not started a runner counts as stopped. */
const AGENT_MS = 60_000;
const CANNOT_START = 'the sandbox could not start a runner for the command';

export interface PoolHost {
  runners: RunnerHost;
  /** Makes the agent start a runner with this name. */
  start: (name: string) => void;
  /** Rejects when the sandbox has ended. */
  lost: Promise<never>;
  tampered: () => void;
  stuck: () => void;
}

/** The runners of one sandbox, from start to end. No callback throws. */
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

  /** Returns an idle runner, if any; the caller owns it until `rest`, `retire`, `leave` or `kill`. */
  takeIdle(): Runner | undefined {
    const runner = this.#idle.pop();
    if (runner) this.#pace(runner, 'commands');
    return runner;
  }

  /**
   * Starts a runner. RESOURCE_EXHAUSTED at the maximum number of commands; UNAVAILABLE if the sandbox starts none. The
   * caller returns it by `rest` or closes it.
   */
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

  /** An idle runner writes nothing, and a runner whose shell was killed is not kept. */
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

  /** For a runner without other processes in its group. */
  retire(runner: Runner): void {
    if (runner.retire()) this.leave(runner);
    else this.kill(runner);
  }

  /** Its background processes live on; their output is read and discarded until they close the pipes. */
  leave(runner: Runner): void {
    this.#leftBehind.push(runner);
    this.#pace(runner, 'dropped');
    runner.out.resume();
    runner.err.resume();
    void runner.outputEnded.then(() => this.#discard(runner));
    if (this.#leftBehind.length > MAX_LEFT_BEHIND) this.#discard(this.#leftBehind[0]!);
  }

  /** Kills the runner and all processes of its command. */
  kill(runner: Runner): void {
    try {
      runner.kill()?.catch(() => {});
    } catch {
      // No descriptor is free: the runner stays in the sandbox's cgroups and ends with the sandbox.
    }
    this.#discard(runner);
  }

  /** Replaces a lost runner in advance, so that the next command does not wait for a new one. */
  refill(): void {
    if (this.#idle.length > 0 || this.#creating > 0) return;
    this.create().then(
      (runner) => this.rest(runner),
      () => {},
    );
  }

  /** Closes all descriptors. */
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
   * A process inside can kill a new runner before it is in its group, so the start is retried once. If the whole
   * sandbox was killed, that is known a moment later.
   */
  async #again(error: unknown): Promise<Runner> {
    if (error instanceof ServiceError) throw error;
    if (isOutOfDescriptors(error)) throw hostError(error, CANNOT_START);
    await Promise.race([delay(DEATH_MS), this.#host.lost]);
    return this.#attempt().catch((cause: unknown) => {
      const converted = hostError(cause, CANNOT_START);
      throw converted instanceof ServiceError
        ? converted
        : new ServiceError('UNAVAILABLE', CANNOT_START, [], { cause });
    });
  }

  #discard(runner: Runner): void {
    runner.close();
    this.#runners.delete(runner);
    this.#leftBehind = this.#leftBehind.filter((each) => each !== runner);
  }
}
