import type { Api } from './api.ts';
import type { Command, RunOptions, StreamOptions } from './commands/options.ts';
import type { CommandResult } from './commands/result.ts';
import { type Runner, run, stream } from './commands/run.ts';
import type { CommandEvent } from './commands/stream.ts';
import type { ExecResponse, ExecStreamChunk, SessionExecRequest, Session as SessionInfo } from './contract/messages.ts';
import { asyncDispose } from './dispose.ts';
import { NotFoundError } from './errors.ts';
import type { CallOptions } from './http/call.ts';

/** `timeout` kills everything in the session. */
export type SessionStreamOptions = Omit<StreamOptions, OfNewShells>;
export type SessionRunOptions = Omit<RunOptions, OfNewShells>;
type OfNewShells = 'env' | 'workdir' | 'shell' | 'stdin';

/** A shell that keeps its directory, variables and functions between commands. */
export class Session {
  readonly id: string;
  readonly #api: Api;
  readonly #runner: Runner;
  /** Ends with the last command that `run` was given. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(api: Api, id: string) {
    this.#api = api;
    this.id = id;
    const request = ({ command, timeout, maxOutput, merge, keepalive }: Record<string, unknown>) =>
      ({ sessionId: id, command, timeout, maxOutput, merge, keepalive }) as SessionExecRequest;
    this.#runner = {
      exec: (fields, options): Promise<ExecResponse> => api.sessionExec(request(fields), options),
      execStream: (fields, options): AsyncIterable<ExecStreamChunk> => api.sessionExecStream(request(fields), options),
    };
  }

  /** Runs one command in the shell, after those before it. */
  run(command: string, options: SessionRunOptions = {}): Promise<CommandResult> {
    // It waits here and not at the server, because `fetch` gives up on an answer that does not begin for 300 seconds.
    const ended = this.#turn(options.signal).then(() => run(this.#runner, command as Command, options));
    // Without their results, which would keep those of all commands before.
    this.#last = Promise.allSettled([this.#last, ended]).then(() => undefined);
    return ended;
  }

  /** The output of one command as it is written, after those that `run` was given before. */
  async *stream(command: string, options: SessionStreamOptions = {}): AsyncGenerator<CommandEvent, void, void> {
    await this.#turn(options.signal);
    // No later command waits for it here: the caller may run one before it has read the whole output.
    yield* stream(this.#runner, command as Command, options);
  }

  /** Rejects with the reason of the signal. */
  async #turn(signal: AbortSignal | undefined): Promise<void> {
    let aborted = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      aborted = resolve;
    });
    signal?.addEventListener('abort', aborted, { once: true });
    await Promise.race([this.#last, ended]);
    signal?.removeEventListener('abort', aborted);
    signal?.throwIfAborted();
  }

  info(options?: CallOptions): Promise<SessionInfo> {
    return this.#api.getSession({ sessionId: this.id }, options);
  }

  /** Kills the shell and everything that was started in it. */
  close(options?: CallOptions): Promise<void> {
    return this.#api.destroySession({ sessionId: this.id }, options);
  }

  async [asyncDispose](): Promise<void> {
    try {
      await this.close();
    } catch (error) {
      // It was closed, or its sandbox is gone.
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
