import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Descriptors } from '../../descriptors.ts';
import type { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts';
import { type Inheritance, type LaunchPlan, launchCommand, prelude, preludeShell } from './prelude.ts';

const MAX_ERROR = 500;
/**
 * Milliseconds that `discard` waits for a killed shell to leave its cgroups; remaining cgroups are removed at the next
 * start.
 */
const DISCARD_MS = 2000;

/**
 * A host shell in the cgroups of a sandbox that later executes its bwrap. Until `launch` it blocks on stdin and uses
 * hardly any resources. The owner must call `launch` or `discard`.
 */
export class Launcher {
  readonly cgroup: SandboxCgroup | undefined;
  readonly child: ChildProcess;
  /** Resolves with the exit status when the process has exited: bwrap once launched, and with it the whole sandbox. */
  readonly ended: Promise<string>;
  readonly #descriptors: Descriptors;
  #said = '';
  #alive = true;

  /** Takes ownership of `cgroup`, also when it throws. */
  constructor(cgroup: SandboxCgroup | undefined, inheritance: Inheritance, descriptors: Descriptors) {
    this.cgroup = cgroup;
    this.#descriptors = descriptors;
    try {
      this.child = start(inheritance);
    } catch (error) {
      this.#removeCgroup();
      throw error;
    }
    const { child } = this;
    this.ended = new Promise((resolve) => {
      // Also of a signal that could not be sent, any number of times.
      child.on('error', (error) => resolve(`could not run the shell (${error.message})`));
      // 'close', not 'exit': by then stderr has been read to its end.
      child.once('close', (code, signal) => resolve(`bwrap ended with ${signal ?? `exit code ${code}`}`));
    });
    void this.ended.then(() => {
      this.#alive = false;
    });
    // The streams are undefined if spawn itself failed. A shell that has exited no longer reads.
    child.stdin?.on('error', () => {});
    child.stderr?.on('error', () => {});
    child.stderr?.on('data', (data: Buffer) => {
      this.#said = (this.#said + data).slice(0, MAX_ERROR);
    });
    child.stdin?.write(prelude(cgroup?.entries ?? [], inheritance));
  }

  get alive(): boolean {
    return this.#alive && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The output on stderr so far, as one line. */
  get said(): string {
    return this.#said.trim().replace(/\s+/g, ' ');
  }

  /** Sends the plan to the waiting shell, which replaces itself by bwrap. Call once. */
  launch(plan: LaunchPlan): void {
    this.child.stdin?.end(launchCommand(plan));
  }

  /** Stops reading stderr, once the sandbox has started or failed. */
  closeOutput(): void {
    this.child.stderr?.destroy();
  }

  /**
   * Sends SIGKILL to the process. A process that could not be started has no pid: until its 'error' event, `child.kill`
   * would send the signal to pid 0, which is the server's own process group (kill(2)).
   */
  kill(): void {
    if (this.child.pid !== undefined) this.child.kill('SIGKILL');
  }

  /** Kills a launcher that was never launched and removes its cgroups. */
  async discard(): Promise<void> {
    this.kill();
    await this.ended;
    const deadline = Date.now() + DISCARD_MS;
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

/**
 * Starts the shell in its own session, so that Ctrl-C at the server's terminal reaches the server only. Its working
 * directory is never in a workspace. Its stderr is a pipe: descriptor 2 of the sandbox's init is readable inside, and a
 * file would reveal a host path.
 */
function start({ closeFds }: Inheritance): ChildProcess {
  return spawn(preludeShell(closeFds), [], { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
}

/** The only child of bwrap, which is the first process of the pid namespace; undefined if there is none. */
export function initOf(child: ChildProcess): number | undefined {
  try {
    const [pid] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'latin1').split(' ');
    return Number(pid) || undefined;
  } catch {
    return undefined;
  }
}
