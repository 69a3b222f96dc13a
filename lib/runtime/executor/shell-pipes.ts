import { OutputPipes } from './output-pipes.ts';
import type { RunnerHost } from './runner.ts';

/** Of ended commands whose background processes still write; above it the oldest are closed. */
const MAX_LEFT = 16;

/**
 * The output pipes of one shell: a pair for all commands, until background processes of a command keep it. The threat: what
 * they write later would be output of another command.
 */
export class ShellPipes {
  readonly #host: RunnerHost;
  #current: OutputPipes | undefined;
  #left: OutputPipes[] = [];
  #closed = false;

  constructor(host: RunnerHost) {
    this.#host = host;
  }

  /** The pair for the next command. Throws RESOURCE_EXHAUSTED if the sandbox’s share of descriptors is in use. */
  async take(): Promise<OutputPipes> {
    this.#current ??= await OutputPipes.open(this.#host);
    if (this.#closed) this.#current.close();
    return this.#current;
  }

  /** The command of this pair has ended. `reusable`: the pipes are empty, and no process has them open. */
  ended(pipes: OutputPipes, reusable: boolean): void {
    if (this.#closed) pipes.close();
    if (this.#closed || reusable) return;
    this.#current = undefined;
    this.#left.push(pipes);
    pipes.leave();
    void pipes.ended.then(() => {
      this.#left = this.#left.filter((each) => each !== pipes);
    });
    if (this.#left.length > MAX_LEFT) this.#left.shift()!.close();
  }

  /** Closes all but the pair of `running`, the command in progress, which `ended` closes. */
  close(running: boolean): void {
    this.#closed = true;
    for (const pipes of this.#left) pipes.close();
    if (!running) this.#current?.close();
  }
}
