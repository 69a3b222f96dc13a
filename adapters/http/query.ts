import { ServiceError } from '../../lib/errors.ts';

/** U+FFFD as a client sends it; elsewhere it is what bytes that are not UTF-8 are decoded to. */
const ESCAPED_REPLACEMENT = /%ef%bf%bd/i;

/**
 * Returns the parameters of a query. Throws INVALID_ARGUMENT for a name that occurs twice, of which a proxy and the
 * server could use different values, and for a value that is not UTF-8, which would name another path.
 */
export function readQuery(query: string): Record<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (parameters.has(name)) {
      throw new ServiceError('INVALID_ARGUMENT', `query parameter ${name.slice(0, 64)} must occur only once`);
    }
    if (value.includes('\ufffd') && !ESCAPED_REPLACEMENT.test(query)) {
      throw new ServiceError('INVALID_ARGUMENT', `query parameter ${name.slice(0, 64)} must be UTF-8`);
    }
    parameters.set(name, value);
  }
  return Object.fromEntries(parameters);
}
