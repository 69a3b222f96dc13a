import type { ServiceError } from '../../errors.ts';
import type {
  Command,
  CommandEvent,
  RunningCommand,
  RunningShell,
  ShellCommand,
  ShellEnd,
  ShellExecution,
} from '../runtime.ts';

/** A shell without a process, which runs each command as `exec` does; `exit N` ends it. */
export class MockShell implements RunningShell {
  readonly path: string;
  readonly ended: Promise<ShellEnd>;
  readonly #exec: (command: Command) => Promise<RunningCommand>;
  #end: ShellEnd | undefined;
  #resolveEnded!: (end: ShellEnd) => void;

  constructor(shell: string, exec: (command: Command) => Promise<RunningCommand>) {
    this.path = shell.startsWith('/') ? shell : `/bin/${shell || 'sh'}`;
    this.#exec = exec;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  get end(): ShellEnd | undefined {
    return this.#end;
  }

  async run({ command, timeoutMs, signal }: ShellCommand): Promise<ShellExecution> {
    const running = await this.#exec({ command, stdin: '', env: {}, workdir: '', timeoutMs, signal });
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    return { settled, [Symbol.asyncIterator]: () => this.#events(running, /^exit( |$)/.test(command.trim()), settle) };
  }

  async close(): Promise<void> {
    this.#finish({ exitCode: 137, reason: 'its shell was killed', outOfMemory: false, killed: true });
  }

  fail(error: ServiceError): void {
    this.#finish({ exitCode: 137, reason: error.message, outOfMemory: false, killed: false, error });
  }

  async *#events(running: RunningCommand, ends: boolean, settle: () => void): AsyncGenerator<CommandEvent> {
    let finished = false;
    try {
      for await (const event of running) {
        finished = event.kind === 'exit';
        if (event.kind === 'exit' && ends) {
          const { exitCode } = event;
          const reason = `its shell ended with exit code ${exitCode}`;
          this.#finish({ exitCode, reason, outOfMemory: false, killed: false });
        }
        yield event;
      }
    } finally {
      if (!finished) await this.close();
      settle();
    }
  }

  #finish(end: ShellEnd): void {
    if (this.#end) return;
    this.#end = end;
    this.#resolveEnded(end);
  }
}
