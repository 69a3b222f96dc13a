import { ServiceError } from '../../lib/errors.ts';

/** Far above any legitimate request, which has thousands of rules, labels and variables. */
const MAX_DEPTH = 32;
const MAX_VALUES = 500_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Refuses JSON that is expensive to parse. The threat: JSON.parse took 24 s and 900 MB for 30 MB of brackets, and
 * blocked the whole server. One pass over the bytes finds such a body; invalid JSON is left to the parser. Throws
 * INVALID_ARGUMENT.
 */
export function refuseCostlyJson(bytes: Uint8Array): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case QUOTE:
        for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (++depth > MAX_DEPTH) throw tooCostly(`be nested at most ${MAX_DEPTH} deep`);
        values++;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth--;
        break;
      case COMMA:
        values++;
        break;
    }
    if (values > MAX_VALUES) throw tooCostly(`have at most ${MAX_VALUES} values`);
  }
}

function tooCostly(allowed: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', `the request body must ${allowed}`);
}
