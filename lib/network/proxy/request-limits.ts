import type { IncomingMessage, Server } from 'node:http';

/** Fields of a head: each needs far more memory than its characters. */
const MAX_FIELDS = 256;

/** Of the requests of all sandboxes that wait for those before them in their connections. In bytes of memory, roughly. */
export const MAX_PIPELINED_BYTES = 67_108_864;
/** What Node needs for a request beside its head. */
const REQUEST_BYTES = 6000;

/**
 * Limits what Node keeps of a head, also while it arrives. It drops the fields beyond, but has read the body by them: a request
 * that was passed on without them could become two. So `hasTooManyFields` must be asked before.
 */
export function limitFields(server: Server): void {
  server.maxHeadersCount = MAX_FIELDS;
}

/** A client that has ended what it sends still gets its answers. Node has the property, its types do not. */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Whether fields may have been dropped: Node keeps all of the last group that begins below the limit. */
export function hasTooManyFields({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length >= 2 * MAX_FIELDS;
}

export const TOO_MANY_FIELDS = `a request has less than ${MAX_FIELDS} header fields`;

/** Characters of the head. */
export function sizeOf({ rawHeaders, url }: IncomingMessage): number {
  return rawHeaders.reduce((sum, { length }) => sum + length, url?.length ?? 0);
}

export const memoryOf = (request: IncomingMessage): number => sizeOf(request) + REQUEST_BYTES;
