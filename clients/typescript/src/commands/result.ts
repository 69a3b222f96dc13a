import type { DeniedHost } from '../contract/messages.ts';
import { PaddockError } from '../errors.ts';

/** The result of a command. An exit code other than 0 is a result, not an error. */
export class CommandResult {
  readonly command: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Both: with `merge` in the order in which they were written, otherwise one after the other. */
  readonly output: string;
  /** 128+N if signal N ended the command. */
  readonly exitCode: number;
  readonly durationMs: number;
  /** "exited", "signaled" or "out_of_memory". */
  readonly endReason: string;
  /** Whether output was left out. */
  readonly outputTruncated: boolean;
  /** How much. */
  readonly stdoutDroppedBytes: number;
  readonly stderrDroppedBytes: number;
  readonly outputDroppedBytes: number;
  /** Connections that were refused meanwhile. */
  readonly deniedHosts: readonly DeniedHost[];
  /** In a session: its shell ended with this command. */
  readonly sessionEnded: boolean;
  /** In a session: the command was the first one of a new shell. */
  readonly sessionReset: boolean;

  constructor(values: Partial<Omit<CommandResult, 'ok' | 'check'>> & { command: string; exitCode: number }) {
    this.command = values.command;
    this.stdout = values.stdout ?? '';
    this.stderr = values.stderr ?? '';
    this.output = values.output || this.stdout + this.stderr;
    this.exitCode = values.exitCode;
    this.durationMs = values.durationMs ?? 0;
    this.endReason = values.endReason ?? '';
    this.outputTruncated = values.outputTruncated ?? false;
    this.stdoutDroppedBytes = values.stdoutDroppedBytes ?? 0;
    this.stderrDroppedBytes = values.stderrDroppedBytes ?? 0;
    this.outputDroppedBytes = values.outputDroppedBytes ?? 0;
    this.deniedHosts = values.deniedHosts ?? [];
    this.sessionEnded = values.sessionEnded ?? false;
    this.sessionReset = values.sessionReset ?? false;
  }

  get ok(): boolean {
    return this.exitCode === 0;
  }

  /** Returns the result. Throws CommandError if the exit code is not 0. */
  check(): this {
    if (!this.ok) throw new CommandError(this);
    return this;
  }
}

const SHOWN = 2000;

/** A command ended with an exit code other than 0, and was to be checked. */
export class CommandError extends PaddockError {
  override name = 'CommandError';
  readonly result: CommandResult;

  constructor(result: CommandResult) {
    const { command, exitCode, stderr, output } = result;
    const shown = (stderr || output).trimEnd().slice(-SHOWN);
    super({ code: 'UNKNOWN', message: `${command} ended with exit code ${exitCode}${shown && `:\n${shown}`}` });
    this.result = result;
  }

  get exitCode(): number {
    return this.result.exitCode;
  }
}
