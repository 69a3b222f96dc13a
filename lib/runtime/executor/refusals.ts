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
