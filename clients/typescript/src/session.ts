import type { Api } from './api.ts';
import type { Command, Duration } from './commands/options.ts';
import type { CommandResult } from './commands/result.ts';
import { type Runner, run, stream } from './commands/run.ts';
import type { CommandEvent } from './commands/stream.ts';
import type { ExecResponse, ExecStreamChunk, SessionExecRequest, Session as SessionInfo } from './contract/messages.ts';
import { asyncDispose } from './dispose.ts';

export interface SessionStreamOptions {
  /** Time until the command, and everything in its session, is killed. */
  timeout?: Duration | undefined;
  /** Both streams as one, in the order in which they were written. */
  merge?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

export interface SessionRunOptions extends SessionStreamOptions {
  onStdout?: ((text: string) => void) | undefined;
  onStderr?: ((text: string) => void) | undefined;
  /** Bytes of output to keep: the beginning and the end. */
  maxOutput?: number | undefined;
  /** Throw CommandError if the exit code is not 0. */
  check?: boolean | undefined;
}

/** A shell that keeps its directory, variables and functions between commands. */
export class Session {
  readonly id: string;
  readonly #api: Api;
  readonly #runner: Runner;

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
    return run(this.#runner, command as Command, options);
  }

  /** The output of one command as it is written. */
  stream(command: string, options: SessionStreamOptions = {}): AsyncGenerator<CommandEvent, void, void> {
    return stream(this.#runner, command as Command, options);
  }

  info(options: { signal?: AbortSignal } = {}): Promise<SessionInfo> {
    return this.#api.getSession({ sessionId: this.id }, options);
  }

  /** Kills the shell and everything that was started in it. */
  async close(options: { signal?: AbortSignal } = {}): Promise<void> {
    await this.#api.destroySession({ sessionId: this.id }, options);
  }

  async [asyncDispose](): Promise<void> {
    await this.close();
  }
}
