import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Descriptors } from '../../descriptors.ts';
import type { SandboxCgroup } from '../cgroup/sandbox-cgroup.ts';
import { type Inheritance, type LaunchPlan, launchCommand, prelude, preludeShell } from './prelude.ts';

const MAX_ERROR = 500;
/** How long `discard` waits for a killed shell to leave its cgroups; what it then leaves goes at the next start. */
const DISCARD_MS = 2000;

/**
 * A shell on the host that sits in a sandbox's cgroups and will become its bwrap. Until `launch` it waits on its stdin
 * and costs next to nothing. Owned by whoever started it: `launch` or `discard`.
 */
export class Launcher {
  readonly cgroup: SandboxCgroup | undefined;
  readonly child: ChildProcess;
  /** Resolves, with how it went, when the process is gone: bwrap, once launched, and with it all of the sandbox. */
  readonly ended: Promise<string>;
  readonly #descriptors: Descriptors;
  #said = '';
  #alive = true;

  /** `cgroup` is its own from here on, also when this throws. */
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
      child.once('error', (error) => resolve(`could not run the shell (${error.message})`));
      // Not 'exit': what it said on stderr has been read by now.
      child.once('close', (code, signal) => resolve(`bwrap ended with ${signal ?? `exit code ${code}`}`));
    });
    void this.ended.then(() => {
      this.#alive = false;
    });
    // Neither is there when the spawn itself failed. A shell that has ended no longer reads.
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

  /** What it said on stderr so far, in one line. */
  get said(): string {
    return this.#said.trim().replace(/\s+/g, ' ');
  }

  launch(plan: LaunchPlan): void {
    this.child.stdin?.end(launchCommand(plan));
  }

  /** It came up, or never will: nothing more is heard from it. */
  settle(): void {
    this.child.stderr?.destroy();
  }

  /** Of one that was never launched: ends it and takes its cgroups away. */
  async discard(): Promise<void> {
    this.child.kill('SIGKILL');
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
 * A session of its own: a Ctrl-C at the server's terminal is the server's to handle. Never a cwd in a workspace. Its
 * stderr is no file: what descriptor 2 of the sandbox's init is can be read inside, and would be a host path.
 */
function start({ closeFds }: Inheritance): ChildProcess {
  return spawn(preludeShell(closeFds), [], { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
}
