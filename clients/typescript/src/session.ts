import type { Api } from './api.ts';
import type { Command, RunOptions, StreamOptions } from './commands/options.ts';
import type { CommandResult } from './commands/result.ts';
import { type Runner, run, stream } from './commands/run.ts';
import type { CommandEvent } from './commands/stream.ts';
import type { ExecResponse, ExecStreamChunk, SessionExecRequest, Session as SessionInfo } from './contract/messages.ts';
import { asyncDispose, removed } from './dispose.ts';
import type { CallOptions } from './http/call.ts';

/** `timeout` kills everything in the session. */
export type SessionStreamOptions = Omit<StreamOptions, OfNewShells>;
export type SessionRunOptions = Omit<RunOptions, OfNewShells>;
type OfNewShells = 'env' | 'workdir' | 'shell' | 'stdin';

/** A shell that keeps its directory, variables and functions between commands. */
export class Session {
  readonly id: string;
  /** The session when it was started or last read; `refresh` reads it again. */
  info: SessionInfo;
  readonly #api: Api;
  readonly #runner: Runner;
  /** Ends with the last command that `run` was given. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(api: Api, info: SessionInfo) {
    this.#api = api;
    this.info = info;
    this.id = info.id;
    const request = (fields: Record<string, unknown>) => ({ ...fields, sessionId: info.id }) as SessionExecRequest;
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

  /** Reads the session again. */
  async refresh(options?: CallOptions): Promise<SessionInfo> {
    this.info = await this.#api.getSession({ sessionId: this.id }, options);
    return this.info;
  }

  /** Kills the shell and everything that was started in it. Does nothing if the session is gone. */
  close(options?: CallOptions): Promise<void> {
    return removed(this.#api.destroySession({ sessionId: this.id }, options));
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
