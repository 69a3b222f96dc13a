import { invalidArgument } from '../../../lib/errors.ts';

const NAMES = ['offset', 'since', 'takeover', 'pty'];
const FLAGS: Readonly<Record<string, boolean>> = { '1': true, true: true, '0': false, false: false };

/**
 * The query of an attach as the fields of its request, with the names of OpenSandbox too: `since` for `offset`, and `1`
 * and `0` for flags. `pty`: whether the client expects a terminal. Throws INVALID_ARGUMENT.
 */
export function attachQuery(given: Readonly<Record<string, string>>): {
  query: Record<string, string>;
  pty: boolean | undefined;
} {
  for (const name of Object.keys(given)) {
    if (!NAMES.includes(name))
      throw invalidArgument(`query parameter ${name.slice(0, 64)}`, `is not known; allowed are ${NAMES.join(', ')}`);
  }
  const { offset = given.since, since = offset, takeover, pty } = given;
  if (since !== offset) throw invalidArgument('since', 'is another name of offset; leave one out');
  return {
    query: {
      ...(offset !== undefined && { offset }),
      ...(takeover !== undefined && { takeover: String(flag('takeover', takeover)) }),
    },
    pty: pty === undefined ? undefined : flag('pty', pty),
  };
}

function flag(name: string, value: string): boolean {
  const read = Object.hasOwn(FLAGS, value) ? FLAGS[value] : undefined;
  if (read === undefined) throw invalidArgument(name, 'must be 1 or 0');
  return read;
}
