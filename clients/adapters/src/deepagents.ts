/**
 * A backend for LangChain's deepagents (deepagents 1.14): `createDeepAgent({ backend: new PaddockBackend(sandbox) })`. Commands
 * and files obey the rules of the sandbox. The paths of its files begin with /workspace.
 */
import { BaseSandbox, type ExecuteResponse, type FileDownloadResponse, type FileUploadResponse } from 'deepagents';
import type { Sandbox } from 'paddock-sandbox';
import { runToEnd } from './shared/command.ts';
import { type FileProblem, problemOf, readBytes, writeBytes } from './shared/files.ts';

export interface BackendOptions {
  /** Seconds until a command is killed. Default: 1800, as in the backends of deepagents. */
  timeout?: number;
  /** Kills running commands, and refuses further ones. */
  signal?: AbortSignal;
}

export class PaddockBackend extends BaseSandbox {
  readonly id: string;
  readonly sandbox: Sandbox;
  readonly #timeout: number;
  readonly #signal: AbortSignal | undefined;

  constructor(sandbox: Sandbox, { timeout = 1800, signal }: BackendOptions = {}) {
    super();
    this.id = sandbox.id;
    this.sandbox = sandbox;
    this.#timeout = timeout;
    this.#signal = signal;
  }

  /** A command that is killed for its time has no exit code. */
  async execute(command: string, options: { timeout?: number } = {}): Promise<ExecuteResponse> {
    const timeout = options.timeout ?? this.#timeout;
    const { output, truncated, end } = await runToEnd(this.sandbox, command, {
      timeout: `${Math.ceil(timeout)}s`,
      signal: this.#signal,
    });
    if (end.reason !== 'timeout') return { output, truncated, exitCode: end.exitCode };
    return { output: `${output}\n[killed after ${timeout} seconds]`, truncated, exitCode: null };
  }

  async uploadFiles(files: [string, Uint8Array][]): Promise<FileUploadResponse[]> {
    const responses: FileUploadResponse[] = [];
    for (const [path, content] of files) {
      const { problem } = await attempt(writeBytes(this.sandbox, path, content, this.#signal));
      responses.push({ path, error: problem });
    }
    return responses;
  }

  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    const responses: FileDownloadResponse[] = [];
    for (const path of paths) {
      const { value, problem } = await attempt(readBytes(this.sandbox, path, this.#signal));
      responses.push({ path, content: value ?? null, error: problem });
    }
    return responses;
  }
}

/** What is wrong with a path is a result; a lost connection, for example, is thrown. */
async function attempt<T>(call: Promise<T>): Promise<{ value?: T; problem: FileProblem | null }> {
  try {
    return { value: await call, problem: null };
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    return { problem };
  }
}
