import { type Client, type ServiceError as GrpcError, Metadata } from '@grpc/grpc-js';
import { expect } from 'vitest';
import { CODES, type Code } from '../../lib/errors.ts';

type Method = (request: object, metadata: Metadata, done: (error: GrpcError | null, answer: unknown) => void) => void;

/** A unary call of a client of `plainClient`. */
export function plainCall<T>(
  client: Client,
  method: string,
  request: object,
  metadata: Metadata = new Metadata(),
): Promise<T> {
  return new Promise((resolve, reject) => {
    const call = (client as unknown as Record<string, Method>)[method]!;
    call.call(client, request, metadata, (error, answer) => (error ? reject(error) : resolve(answer as T)));
  });
}

/** Expects that the call fails with this code and message. */
export async function expectCode(call: Promise<unknown>, code: Code, message: string): Promise<void> {
  const error = await call.then(
    () => undefined,
    (reason: GrpcError) => ({ code: reason.code, details: reason.details }),
  );
  expect(error).toEqual({ code: CODES[code].grpc, details: message });
}
