import { setTimeout as delay } from 'node:timers/promises';
import { isOutOfDescriptors } from '../../descriptors.ts';
import { ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';
import { Runner, type RunnerHost } from './runner.ts';
import { continueAgent, continueStopped } from './stopped-shells.ts';

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
/** Milliseconds between two looks for shells that a process of the sandbox has stopped, while there are commands. */
const LOOK_MS = 1000;
/** Looks in a row that find the agent stopped again, after which no command waits for it. */
const STOPPED_LOOKS = 5;
/** A command that has run for so many milliseconds is looked at only once in MANY_LOOKS. */
const LONG_MS = 10_000;
const MANY_LOOKS = 10;
/** Milliseconds before a runner is started again: the sandbox may have ended with the first one. */
const AGAIN_MS = 50;
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
  /** The one that is started ahead, as long as no command waits for it. */
  #coming: Promise<Runner> | undefined;
  #closed: ServiceError | undefined;
  /** Refuses the runners that are being started. */
  readonly #refuse = new Set<(error: ServiceError) => void>();
  #looking: NodeJS.Timeout | undefined;
  #looks = 0;
  /** For a stopped agent. */
  #isLooking = false;
  /** Looks in a row that found the agent stopped. */
  #stopped = 0;

  constructor(host: PoolHost) {
    this.#host = host;
  }

  /** Returns an idle runner, if any; the caller owns it until `rest`, `retire`, `leave` or `kill`. */
  takeIdle(): Runner | undefined {
    const runner = this.#idle.pop();
    if (runner) this.#look();
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
    this.#look();
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

  /** Pids of the idle runners in the sandbox. */
  idlePids(): number[] {
    return this.#idle.flatMap(({ innerPid }) => innerPid ?? []);
  }

  /** Host pids of all shells of runners. */
  shellPids(): number[] {
    return [...this.#runners].flatMap(({ shellPid }) => shellPid ?? []);
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

  /** The runner that is being started ahead, or a new one. The caller owns it, as after `create`. */
  next(): Promise<Runner> {
    const coming = this.#coming ?? this.create();
    this.#coming = undefined;
    return coming;
  }

  /** Starts a runner, so that the next command does not wait for one; nothing if one is idle or being started. */
  async startAhead(): Promise<void> {
    if (this.#closed || this.#idle.length > 0 || this.#creating > 0) return;
    const coming = this.create();
    this.#coming = coming;
    try {
      const runner = await coming;
      if (this.#coming === coming) this.rest(runner);
    } finally {
      if (this.#coming === coming) this.#coming = undefined;
    }
  }

  /** Starts the first one, unless a command has done so. */
  async startFirst(): Promise<void> {
    if (this.#runners.size === 0) await this.startAhead();
  }

  /** Replaces a lost runner in advance. */
  refill(): void {
    this.startAhead().catch(() => {});
  }

  /** Closes all descriptors. */
  close(error: ServiceError): void {
    this.#closed = error;
    clearInterval(this.#looking);
    for (const runner of this.#runners) runner.close();
    this.#runners.clear();
    this.#idle.length = 0;
  }

  #pace({ out, err }: Runner, which: 'commands' | 'dropped'): void {
    const pace = this.#host.runners.paces[which];
    out.pace = pace;
    err.pace = pace;
  }

  async #attempt(): Promise<Runner> {
    let refuse = (_error: ServiceError) => {};
    const refused = new Promise<never>((_, reject) => {
      refuse = reject;
    });
    this.#refuse.add(refuse);
    const lost = Promise.race([this.#host.lost, refused]);
    // The sandbox may end while nothing waits for it: before the runner is asked to start, or after a failure.
    lost.catch(() => undefined);
    try {
      return await Runner.create(this.#host.runners, this.#host.start, lost);
    } finally {
      this.#refuse.delete(refuse);
    }
  }

  /** Looks for stopped shells from time to time, for as long as there are commands. */
  #look(): void {
    if (this.#looking !== undefined) return;
    this.#host.runners.onActive?.();
    this.#looking = setInterval(() => {
      this.#host.runners.onActive?.();
      if (this.#runners.size - this.#idle.length - this.#leftBehind.length + this.#creating > 0) {
        void this.#continue();
        return;
      }
      clearInterval(this.#looking);
      this.#looking = undefined;
    }, LOOK_MS).unref();
  }

  /** Never rejects. */
  async #continue(): Promise<void> {
    const all = this.#looks++ % MANY_LOOKS === 0;
    const since = performance.now() - LONG_MS;
    const looked = [...this.#runners].filter(({ executedAt }) => all || executedAt > since);
    const { uid } = this.#host.runners;
    continueStopped(
      looked.flatMap(({ shellPid }) => shellPid ?? []),
      uid,
    );
    if (this.#creating === 0) {
      this.#stopped = 0;
      return;
    }
    // The last look may wait for a process.
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#stopped = (await continueAgent(await this.#agentPids(), uid)) > 0 ? this.#stopped + 1 : 0;
    this.#isLooking = false;
    if (this.#stopped < STOPPED_LOOKS) return;
    this.#stopped = 0;
    const error = new ServiceError('UNAVAILABLE', `${CANNOT_START}: its processes stop the agent that starts them`);
    for (const refuse of this.#refuse) refuse(error);
  }

  /** Empty if they cannot be read, for example because no descriptor is free. */
  async #agentPids(): Promise<number[]> {
    try {
      return await (this.#host.runners.groups?.basePids() ?? []);
    } catch {
      return [];
    }
  }

  /**
   * A process inside can kill a new runner before it is in its group, so the start is retried once. If the whole
   * sandbox was killed, that is known a moment later.
   */
  async #again(error: unknown): Promise<Runner> {
    if (error instanceof ServiceError) throw error;
    if (isOutOfDescriptors(error)) throw hostError(error, CANNOT_START);
    await Promise.race([delay(AGAIN_MS), this.#host.lost]);
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
