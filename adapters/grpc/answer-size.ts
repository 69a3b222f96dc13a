import type { Metadata } from '@grpc/grpc-js';
import { invalidArgument, ServiceError } from '../../lib/errors.ts';

/** Metadata key: bytes of a message that the client's receive limit permits. */
const KEY = 'x-max-answer-bytes';
/** The receive limit of gRPC clients that set none. */
const DEFAULT_BYTES = 4 * 1024 * 1024;
const LEAST_BYTES = 128 * 1024;
const MOST_BYTES = 2 ** 31 - 1;

/** Bytes of a unary answer that the client can receive. Throws INVALID_ARGUMENT for another value of the key. */
export function answerBytesOf(metadata: Metadata): number {
  const [value] = metadata.get(KEY);
  if (value === undefined) return DEFAULT_BYTES;
  const bytes = /^\d{1,10}$/.test(String(value)) ? Number(value) : 0;
  if (bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
  throw invalidArgument(KEY, `must be a number of bytes from ${LEAST_BYTES} to ${MOST_BYTES}`);
}

/**
 * Throws RESOURCE_EXHAUSTED if an answer of this length does not fit into the client's receive limit: a client that gets too
 * large a message drops it, and may repeat what was done.
 */
export function requireFitting(length: number, limit: number): void {
  if (length <= limit) return;
  const problem = `the answer has ${length} bytes, more than the ${limit} that this client receives`;
  const hint = `raise its limit, and set ${KEY} to it, or ask for fewer items`;
  throw new ServiceError('RESOURCE_EXHAUSTED', `${problem}: ${hint}; the call was carried out`);
}
