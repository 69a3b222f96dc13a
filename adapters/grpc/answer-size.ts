import type { Metadata } from '@grpc/grpc-js';
import { invalidArgument, ServiceError } from '../../lib/errors.ts';
import type { Encoded } from './large-message.ts';

/** Metadata key: bytes of a message that the client's receive limit permits. */
const KEY = 'x-max-answer-bytes';
/** The receive limit of gRPC clients that set none. */
const DEFAULT_BYTES = 4 * 1024 * 1024;
const LEAST_BYTES = 128 * 1024;
const MOST_BYTES = 2 ** 31 - 1;
/** Part of the limit that a repeated page is to have: the items of a page differ in size. */
const AIM = 0.9;

/** Bytes of a unary answer that the client can receive. Throws INVALID_ARGUMENT for another value of the key. */
export function answerBytesOf(metadata: Metadata): number {
  const [value] = metadata.get(KEY);
  if (value === undefined) return DEFAULT_BYTES;
  const bytes = /^\d{1,10}$/.test(String(value)) ? Number(value) : 0;
  if (bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
  throw invalidArgument(KEY, `must be a number of bytes from ${LEAST_BYTES} to ${MOST_BYTES}`);
}

interface Fitting {
  /** Repeats the call, which only reads, for fewer items. */
  again(pageSize: number): Promise<object>;
  encode(message: object): Promise<Encoded>;
  limit: number;
}

/**
 * The encoding of an answer that fits into the client's receive limit: of a larger page, that of a smaller one. Throws
 * RESOURCE_EXHAUSTED if there is none: a client that gets too large a message drops it, and may repeat what was done.
 */
export async function fitting(first: object, { again, encode, limit }: Fitting): Promise<Encoded> {
  for (let message = first; ; ) {
    const encoded = await encode(message);
    if (encoded.length <= limit) return encoded;
    const items = Object.values(message).find((value) => Array.isArray(value)) as unknown[] | undefined;
    const isPage = 'next_page_token' in message && items !== undefined && items.length > 1;
    if (!isPage) throw tooLarge(encoded.length, limit);
    message = await again(Math.max(1, Math.floor((items.length * AIM * limit) / encoded.length)));
  }
}

function tooLarge(length: number, limit: number): ServiceError {
  const problem = `the answer has ${length} bytes, more than the ${limit} that this client receives`;
  return new ServiceError(
    'RESOURCE_EXHAUSTED',
    `${problem}: raise its limit, and set ${KEY} to it; the call was carried out`,
  );
}
