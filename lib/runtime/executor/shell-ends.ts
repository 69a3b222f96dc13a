import { ServiceError } from '../../errors.ts';
import type { ShellEnd } from '../runtime.ts';

export const KILLED_END: ShellEnd = {
  exitCode: 128 + 9,
  reason: 'its shell was killed',
  outOfMemory: false,
  killed: true,
};

export function endOf(exitCode: number, outOfMemory: boolean): ShellEnd {
  return { exitCode, reason: `its shell ended with exit code ${exitCode}`, outOfMemory, killed: false };
}

export function lost(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('UNAVAILABLE', 'the server lost the session’s shell', [], { cause: error });
}

export function noShell(shell: string, problem: string): ServiceError {
  const name = shell === '' ? 'bash and sh' : JSON.stringify(shell);
  return new ServiceError('FAILED_PRECONDITION', `shell: ${name} cannot be the shell of a session: ${problem}`);
}
