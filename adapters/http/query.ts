import { ServiceError } from '../../lib/errors.ts';

/** U+FFFD as a client sends it; elsewhere it is what bytes that are not UTF-8 are decoded to. */
const ESCAPED_REPLACEMENT = /%ef%bf%bd/i;

interface Query {
  parameters: Record<string, string>;
  /** Absent: none. */
  lists?: Record<string, string[]>;
}

/**
 * Returns the parameters of a query. `isList`: whether each occurrence of a name is an element of a list. Throws
 * INVALID_ARGUMENT for another name that occurs twice, of which a proxy and the server could use different values, and
 * for a value that is not UTF-8, which would name another path.
 */
export function readQuery(query: string, isList: (name: string) => boolean = () => false): Query {
  const parameters = new Map<string, string>();
  const lists = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const list = isList(name);
    if (parameters.has(name)) {
      throw new ServiceError('INVALID_ARGUMENT', `query parameter ${name.slice(0, 64)} must occur only once`);
    }
    if (value.includes('\ufffd') && !ESCAPED_REPLACEMENT.test(query)) {
      throw new ServiceError('INVALID_ARGUMENT', `query parameter ${name.slice(0, 64)} must be UTF-8`);
    }
    if (!list) parameters.set(name, value);
    else if (lists.get(name)?.push(value) === undefined) lists.set(name, [value]);
  }
  return { parameters: Object.fromEntries(parameters), ...(lists.size > 0 && { lists: Object.fromEntries(lists) }) };
}
