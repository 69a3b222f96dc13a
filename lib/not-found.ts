import { ServiceError } from './errors.ts';

const MAX_SHOWN = 64;

/** The error for an id that does not exist, or that the caller must not know of: both have this one text. */
export function notFound(
  kind: 'sandbox' | 'codebase' | 'key' | 'process' | 'session' | 'image',
  id: string,
): ServiceError {
  const shown = id.length > MAX_SHOWN ? `${id.slice(0, MAX_SHOWN)}…` : id;
  const more = kind === 'session' ? ', or has ended with the server: sessions do not outlive it' : '';
  return new ServiceError('NOT_FOUND', `${kind} ${JSON.stringify(shown)} does not exist${more}`);
}
