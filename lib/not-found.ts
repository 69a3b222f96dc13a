import { hideKeys } from './access/key-format.ts';
import { ServiceError } from './errors.ts';

const MAX_SHOWN = 64;
const MAX_NAME = 200;

/** Type of the detail that says what does not exist. */
export const RESOURCE_INFO = 'type.googleapis.com/google.rpc.ResourceInfo';

/** google.rpc.ResourceInfo as JSON. */
export interface ResourceInfo {
  '@type': typeof RESOURCE_INFO;
  resourceType: string;
  /** Its id, name or path, without the secrets of keys. */
  resourceName: string;
}

export type Kind = 'sandbox' | 'codebase' | 'key' | 'process' | 'session' | 'image' | 'checkpoint' | 'file' | 'port';

/** The error for an id that does not exist, or that the caller must not know of: both have this one text. */
export function notFound(kind: Kind, id: string): ServiceError {
  const shown = id.length > MAX_SHOWN ? `${id.slice(0, MAX_SHOWN)}…` : id;
  const more = kind === 'session' ? ', or has ended with the server: sessions do not outlive it' : '';
  return missing(kind, shown, `${kind} ${JSON.stringify(shown)} does not exist${more}`);
}

/** NOT_FOUND with a text of its own, and `more` details. */
export function missing(kind: Kind, name: string, message: string, more: readonly unknown[] = []): ServiceError {
  const info: ResourceInfo = { '@type': RESOURCE_INFO, resourceType: kind, resourceName: beginningOf(hideKeys(name)) };
  return new ServiceError('NOT_FOUND', message, [...more, info]);
}

/** As well-formed Unicode, which a string of gRPC must be: the cut may divide a surrogate pair. */
function beginningOf(name: string): string {
  return (name.slice(0, MAX_NAME) as string & { toWellFormed(): string }).toWellFormed();
}

export function isResourceInfo(detail: unknown): detail is ResourceInfo {
  return typeof detail === 'object' && detail !== null && '@type' in detail && detail['@type'] === RESOURCE_INFO;
}
