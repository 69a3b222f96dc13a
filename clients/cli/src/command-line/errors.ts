import { InvalidArgumentError, PaddockError } from 'paddock-sandbox';
import { printableName } from '../output/printable.ts';
import { inOptions } from './option-of-field.ts';

/** Exit codes of paddock itself. Others are those of the command that was run. */
export const EXIT = {
  /** Negative result, failure or partial failure. */
  conflict: 1,
  /** Wrong arguments. */
  usage: 2,
  /** As of `docker run`: paddock itself failed, where the exit code is otherwise that of a command. */
  failed: 125,
  /** The command cannot be run. */
  notExecutable: 126,
  /** The command was not found. */
  notFound: 127,
  hangup: 129,
  interrupted: 130,
  /** The reader of the output has left. */
  brokenPipe: 141,
  terminated: 143,
} as const;

/** A failure that is told in one sentence. */
export class CliError extends Error {
  override name = 'CliError';
  /** Undefined: that of `exitCodeOf`. */
  readonly exitCode: number | undefined;

  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode;
  }
}

/** Wrong arguments: the usage follows. */
export class UsageError extends CliError {
  override name = 'UsageError';
}

/** Of a failure. `runs`: the exit code is otherwise that of a command, so that paddock's own must not look like one. */
export function exitCodeOf(error: unknown, { runs }: { runs: boolean }): number {
  const own = error instanceof CliError ? error.exitCode : undefined;
  if (own !== undefined) return own;
  if (runs) return EXIT.failed;
  return error instanceof UsageError ? EXIT.usage : EXIT.conflict;
}

/** One line for stderr. Messages of the server may contain names that a program of a sandbox has chosen. */
export function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const line = message.trim().replace(/\s*\n\s*/g, ' ');
  if (error instanceof InvalidArgumentError) return printableName(inOptions(line));
  const isOurs = error instanceof CliError || error instanceof PaddockError;
  return printableName(isOurs ? line : line || 'it failed without a message');
}
