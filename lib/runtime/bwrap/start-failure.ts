import { ServiceError } from '../../errors.ts';

/** The errors of a kernel that has no room: by name, and in the words of bwrap and Perl, which have no environment and so one language. */
const NO_ROOM =
  /\b(EAGAIN|EMFILE|ENFILE|ENOMEM)\b|\(ENOSPC\)|\b(Resource temporarily unavailable|Too many open files|Cannot allocate memory)\b/;

/** A sandbox did not start. `reason`: what its process said last, or how it ended. */
export function startFailure(reason: string, cause: unknown): ServiceError {
  const code = NO_ROOM.test(reason) ? 'RESOURCE_EXHAUSTED' : 'UNAVAILABLE';
  return new ServiceError(code, `the sandbox did not start: ${reason}`, [], { cause });
}
