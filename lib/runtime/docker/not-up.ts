import { ServiceError } from '../../errors.ts';
import type { ContainerEnd } from './watch.ts';

/** Exit codes of docker-init if it cannot run the entrypoint (tini: EACCES, ENOENT). */
const NOT_EXECUTABLE = [126, 127];

/** The error for a container that ended while its sandbox was being started. */
export function notUp(imageName: string, { reason, exitCode }: ContainerEnd): ServiceError {
  const image = `image ${JSON.stringify(imageName)}`;
  if (exitCode !== undefined && NOT_EXECUTABLE.includes(exitCode)) {
    return new ServiceError('FAILED_PRECONDITION', `${image}: has no /bin/sh that can be run`);
  }
  return new ServiceError('FAILED_PRECONDITION', `${image}: its /bin/sh did not stay up: ${reason}`);
}
