import { UsageError } from '../command-line/errors.ts';

/** Labels, "KEY=VALUE" each. */
export function labelsOf(given: readonly string[] | undefined): Record<string, string> | undefined {
  if (given === undefined) return undefined;
  return Object.fromEntries(
    given.map((each) => {
      const equals = each.indexOf('=');
      if (equals <= 0) throw new UsageError(`a label is KEY=VALUE, not ${JSON.stringify(each)}`);
      return [each.slice(0, equals), each.slice(equals + 1)];
    }),
  );
}
