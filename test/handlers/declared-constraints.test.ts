import { expect, it } from 'vitest';
import type { FieldConstraint } from '../../handlers/input/constraints.ts';
import { call, message } from './call.ts';
import { permittedRequest, rows } from './permitted-requests.ts';

/** Values of a text or a number that a constraint does not permit. */
function wrongValues(constraint: FieldConstraint) {
  const { minimum, maximum, orZero, values, minLength, maxLength, maxBytes, pattern, format } = constraint;
  return [
    ...(minLength === undefined ? [] : ['']),
    ...(minimum === undefined || (orZero && minimum === 1) ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(values === undefined ? [] : ['none of them']),
    ...[maxLength, maxBytes].flatMap((most) => (most === undefined ? [] : ['a'.repeat(most + 1)])),
    ...(pattern === undefined || new RegExp(`^(?:${pattern.source})$`, 'u').test('\0') ? [] : ['\0']),
    ...(format === undefined ? [] : ['../a']),
  ];
}

/** Values of a field that its constraint does not permit. */
function wrongOf(constraint: FieldConstraint): unknown[] {
  const { maxItems, maxBytes, items = {}, keys, fields = {} } = constraint;
  const inFields = Object.entries(fields).flatMap(([name, each]) => wrongOf(each).map((value) => ({ [name]: value })));
  if (maxItems === undefined) return [...inFields, ...wrongValues(constraint)];
  const names = Array.from({ length: maxItems + 1 }, (_, index) => `A${index}`);
  const entries = wrongOf(items);
  if (keys === undefined) {
    const large = maxBytes === undefined ? [] : [Array(maxItems).fill('a'.repeat(Math.ceil(maxBytes / maxItems) + 1))];
    const isText = items.fields === undefined;
    return [names.map((name) => (isText ? name : {})), ...(isText ? large : []), ...entries.map((each) => [each])];
  }
  const wrongKeys = wrongOf(keys).map((key) => ({ [String(key)]: 'a' }));
  return [Object.fromEntries(names.map((name) => [name, 'a'])), ...entries.map((each) => ({ A: each })), ...wrongKeys];
}

const declared = rows
  .filter(({ kind }) => kind !== 'raw' && kind !== 'multipart' && kind !== 'attach')
  .flatMap((row) =>
    Object.entries(row.handler.constraints).map(([name, each]) => [row.operation, name, row, each] as const),
  );

it.each(declared)('%s refuses what is not permitted as %s', async (_, name, row, constraint) => {
  const request = permittedRequest(row);
  const refused = async (value: unknown, problem: RegExp) => {
    const error = await call(row.handler, message({ ...request, [name]: value }), {}).catch((reason) => reason);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringMatching(problem) });
  };
  for (const wrong of wrongOf(constraint)) await refused(wrong, new RegExp(`^(a key of )?${name}\\b.* must `));
  if (constraint.required) await refused(undefined, new RegExp(`^${name} is required$`));
});
