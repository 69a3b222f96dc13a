import { invalidArgument } from '../errors.ts';

const MAX_LENGTH = 255;
const KEY = new RegExp(`^[\\w.~:/+=@-]{1,${MAX_LENGTH}}$`);

/**
 * The idempotency key of a call, from all values of its header; undefined: it has none. The quotes of a structured
 * header's string (RFC 8941), which draft-ietf-httpapi-idempotency-key-header requires, are optional: most clients send
 * none. Throws INVALID_ARGUMENT.
 */
export function idempotencyKeyOf(values: readonly string[]): string | undefined {
  const [value] = values;
  if (value === undefined) return undefined;
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (values.length === 1 && KEY.test(key)) return key;
  throw invalidArgument(
    'idempotency-key',
    `must occur once, with 1 to ${MAX_LENGTH} letters, digits, "-", ".", "_", "~", ":", "/", "+", "=" or "@"`,
  );
}
