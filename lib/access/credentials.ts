import { ServiceError } from '../errors.ts';
import type { Credentials } from '../services.ts';
import { type KeyParts, parseKey } from './key-format.ts';

const BEARER = /^bearer +(\S+)$/i;

/** The key of a call. Throws UNAUTHENTICATED, with a text that has nothing of what was sent. */
export function keyOf({ authorization, apiKey }: Credentials): KeyParts {
  const tokens = [...authorization.map((value) => BEARER.exec(value)?.[1] ?? ''), ...apiKey];
  const [token] = tokens;
  if (token === undefined) {
    throw unauthenticated('a key is required, as "authorization: Bearer <key>" or as "x-api-key: <key>"');
  }
  if (tokens.some((each) => each !== token)) throw unauthenticated('authorization and x-api-key must have one key');
  const parts = parseKey(token);
  if (parts === undefined) throw invalidKey();
  return parts;
}

/** The ticket of a call that has one. Throws UNAUTHENTICATED if it has a key too. */
export function onlyTicket<T>({ authorization, apiKey }: Credentials, ticket: T): T {
  if (authorization.length + apiKey.length > 0)
    throw unauthenticated('a request must have a key or a ticket, not both');
  return ticket;
}

/** One text for malformed, unknown, revoked and wrong keys, so that the answer tells nothing about which keys exist. */
export function invalidKey(): ServiceError {
  return unauthenticated('the key is not valid');
}

export function unauthenticated(message: string): ServiceError {
  return new ServiceError('UNAUTHENTICATED', message);
}
