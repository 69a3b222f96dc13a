import { getSystemErrorName } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { hostError } from '../../host-error.ts';

/** Answers that are no errnos. */
const ENDED = -1;
const NOT_IN_SANDBOX = -2;

const WHAT = 'the network of the sandbox could not be opened';

/** The failure of opening sockets or of changing routes, for the caller of an operation. */
export function openError(errno: number, at: string): Error {
  const common = commonError(errno);
  if (common) return common;
  const name = nameOf(errno);
  const [address, port] = at.slice(1).split('/');
  if (name === 'EADDRINUSE') {
    const text = `port ${port} (${address}) is needed for the network, but a program of the sandbox listens on it`;
    return new ServiceError('FAILED_PRECONDITION', text);
  }
  if (name === 'EPERM' || name === 'EACCES') {
    const text = `${WHAT}: the server may not enter the network namespaces of sandboxes, which needs CAP_SYS_ADMIN`;
    return new ServiceError('FAILED_PRECONDITION', text);
  }
  const cause = Object.assign(new Error(`${name} at ${at}`), { code: name });
  const error = hostError(cause, WHAT);
  return error instanceof Error ? error : cause;
}

/** The failure of a connection into a sandbox: with the code of its errno. */
export function connectError(errno: number, port: string): Error {
  const name = nameOf(errno);
  return (
    commonError(errno) ?? Object.assign(new Error(`connect ${name} port ${port} of the sandbox`), { code: name, errno })
  );
}

function commonError(errno: number): Error | undefined {
  if (errno === ENDED) return new ServiceError('UNAVAILABLE', 'the sandbox has ended');
  if (errno === NOT_IN_SANDBOX) {
    return new ServiceError('FAILED_PRECONDITION', 'the sandbox shares the network of the host');
  }
  return undefined;
}

function nameOf(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`;
  }
}
