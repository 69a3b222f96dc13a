import type { ProcessEnd } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';

/** The exit code of `timeout` of coreutils. */
const TIMED_OUT = 124;

/** The exit code of this program for the end of a process, and what to say of it. Throws CliError if it has none. */
export function endingOf({ reason, exitCode }: Pick<ProcessEnd, 'reason' | 'exitCode'>): {
  exitCode: number;
  note?: string;
} {
  switch (reason) {
    case 'timeout':
      return { exitCode: TIMED_OUT, note: 'the timeout was over' };
    case 'out_of_memory':
      return { exitCode: exitCode > 0 ? exitCode : 137, note: 'the memory limit of the sandbox ended it' };
    case 'sandbox_stopped':
      throw new CliError('the sandbox was stopped or destroyed');
    case 'sandbox_lost':
      throw new CliError('the sandbox failed, or the server was restarted');
    default:
      if (exitCode < 0) throw new CliError('the exit code of the process is not known');
      return { exitCode };
  }
}
