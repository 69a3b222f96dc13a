import { invalidArgument, ServiceError } from '../../errors.ts';
import type { Command } from '../runtime.ts';
import type { StatusLine } from './status.ts';
import { noTerminalProgram } from './terminal/terminal.ts';

const REFUSED = 'cannot be entered: no directory there, or no access';

/** Why nothing of a command has run. */
export function refusalOf(
  kind: Extract<StatusLine['kind'], 'w' | 'e' | 'm'>,
  { shell = '', workdir, ownWorkdir }: Pick<Command, 'shell' | 'workdir' | 'ownWorkdir'>,
): ServiceError {
  if (kind === 'm') return noTerminalProgram();
  if (kind === 'e') {
    return new ServiceError('FAILED_PRECONDITION', `shell: the sandbox has no program ${JSON.stringify(shell)}`);
  }
  if (!ownWorkdir) return invalidArgument('workdir', REFUSED);
  const own = `the sandbox’s workdir ${JSON.stringify(workdir)} ${REFUSED}; UpdateSandbox changes it`;
  return new ServiceError('FAILED_PRECONDITION', own);
}

/** The shell of a command could not be started, or could not start its program. */
export function cannotStart(atPidsLimit: boolean): ServiceError {
  const why = atPidsLimit ? 'its pids_limit is reached' : 'it can start no further process';
  return new ServiceError('RESOURCE_EXHAUSTED', `the command could not be started in the sandbox: ${why}`);
}
