import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Descriptors } from '../../descriptors.ts';
import type { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts';
import type { LaunchPlan } from './prelude.ts';
import type { WaitingProcess } from './waiting-process.ts';

/** Pids of bwrap's init and of the agent in the sandbox. Both live as long as it does. */
export const BASE_PIDS = [1, 2];

/**
 * Milliseconds that `discard` waits for a killed process to leave its cgroups; remaining cgroups are removed at the next
 * start.
 */
const DISCARD_MS = 2000;

/** Starts a process that enters the cgroups of these cgroup.procs files. May throw. */
export type StartProcess = (entries: readonly string[]) => WaitingProcess;

/** A process in the cgroups of a sandbox that waits to execute its bwrap. The owner must call `launch` or `discard`. */
export class Launcher {
  readonly cgroup: SandboxCgroup | undefined;
  readonly #process: WaitingProcess;
  readonly #descriptors: Descriptors;

  /** Takes ownership of `cgroup`, also when it throws. */
  constructor(cgroup: SandboxCgroup | undefined, start: StartProcess, descriptors: Descriptors) {
    this.cgroup = cgroup;
    this.#descriptors = descriptors;
    try {
      this.#process = start(cgroup?.entries ?? []);
    } catch (error) {
      this.#removeCgroup();
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** See `WaitingProcess`. */
  get started(): Promise<void> {
    return this.#process.started;
  }

  /** See `WaitingProcess`. */
  get ended(): Promise<string> {
    return this.#process.ended;
  }

  get alive(): boolean {
    return this.#process.alive;
  }

  /** The output on stderr so far, as one line. */
  get said(): string {
    return this.#process.said.trim().replace(/\s+/g, ' ');
  }

  /** The process replaces itself by bwrap. Call once. */
  launch(plan: LaunchPlan): void {
    this.#process.launch(plan);
  }

  /** Stops reading stderr, once the sandbox has started or failed. */
  closeOutput(): void {
    this.#process.closeOutput();
  }

  kill(): void {
    this.#process.kill();
  }

  /** Host pid of the first process of the pid namespace, the only child of bwrap; undefined if there is none. */
  init(): number | undefined {
    const { pid } = this;
    try {
      const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ');
      return Number(child) || undefined;
    } catch {
      return undefined;
    }
  }

  /** Kills a launcher that was never launched and removes its cgroups. */
  async discard(): Promise<void> {
    this.kill();
    const deadline = Date.now() + DISCARD_MS;
    await Promise.race([this.ended, delay(DISCARD_MS, undefined, { ref: false })]);
    while (!this.#removeCgroup() && Date.now() < deadline) await delay(5);
  }

  #removeCgroup(): boolean {
    try {
      return this.#descriptors.use(() => this.cgroup?.remove() ?? true);
    } catch {
      return false;
    }
  }
}
