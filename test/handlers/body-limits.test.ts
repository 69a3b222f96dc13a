import { expect, it } from 'vitest';
import type { DeclaredHandler } from '../../handlers/declaration.ts';
import { operations } from '../../handlers/index.ts';
import type { Constraints, FieldConstraint } from '../../handlers/input/constraints.ts';

/** Bytes of the longest value that a constraint permits, as far as it says so. Lists of paths have no limit in bytes. */
function most(field: FieldConstraint): number {
  if (field.maxBytes !== undefined) return field.maxBytes;
  if (field.fields !== undefined) return (field.maxItems ?? 1) * sum(field.fields);
  if (field.items !== undefined || field.keys !== undefined)
    return (field.maxItems ?? 0) * (most(field.items ?? {}) + most(field.keys ?? {}));
  return (field.maxLength ?? 0) * 4;
}

const sum = (constraints: Constraints): number =>
  Object.values(constraints).reduce((bytes, field) => bytes + most(field), 0);

it.each(
  operations.map(({ operation, handler, maxBody }) => ({
    operation,
    bytes: sum((handler as DeclaredHandler).constraints),
    maxBody,
  })),
)('$operation may have the longest values that its constraints permit', ({ bytes, maxBody }) => {
  expect(bytes).toBeLessThan(maxBody);
});

it('an operation of a few fields has 64 KiB', () => {
  const small = operations.filter(({ operation }) => ['CreateTicket', 'StopSandbox', 'Health'].includes(operation));
  expect(small.map(({ maxBody }) => maxBody)).toEqual([65_536, 65_536, 65_536]);
});
