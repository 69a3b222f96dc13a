import { type ChildProcess, spawn } from 'node:child_process';
import { type Inheritance, type LaunchPlan, launchCommand, prelude, preludeShell } from './prelude.ts';
import { endOfBwrap, MAX_ERROR, type WaitingProcess } from './waiting-process.ts';

/** A shell that this process starts itself, where there is no spawner. See `prelude`. */
export class ShellProcess implements WaitingProcess {
  readonly ended: Promise<string>;
  readonly started = Promise.resolve();
  readonly #child: ChildProcess;
  #said = '';
  #alive = true;

  /** Throws if the host has no room for a process. */
  constructor(entries: readonly string[], inheritance: Inheritance) {
    const child = start(inheritance);
    this.#child = child;
    this.ended = new Promise((resolve) => {
      // Also of a signal that could not be sent, any number of times.
      child.on('error', (error) => resolve(`could not run the shell (${error.message})`));
      // 'close', not 'exit': by then stderr has been read to its end.
      child.once('close', (code, signal) => resolve(endOfBwrap(signal ?? `exit code ${code}`)));
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
    child.stdin?.write(prelude(entries, inheritance));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#alive && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get said(): string {
    return this.#said;
  }

  launch(plan: LaunchPlan): void {
    this.#child.stdin?.end(launchCommand(plan));
  }

  closeOutput(): void {
    this.#child.stderr?.destroy();
  }

  /**
   * A process that could not be started has no pid: until its 'error' event, `child.kill` would send the signal to pid 0, which
   * is the server's own process group (kill(2)).
   */
  kill(): void {
    if (this.pid !== undefined) this.#child.kill('SIGKILL');
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
