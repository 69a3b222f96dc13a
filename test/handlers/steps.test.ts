import { describe, expect, it } from 'vitest';
import { commit, discard } from '../../handlers/changes.ts';
import { exec } from '../../handlers/exec.ts';
import { readingRequest } from '../../handlers/input/request.ts';
import { type Rpc, requestFields } from '../../handlers/input/request-fields.ts';
import { updatePermissions } from '../../handlers/permissions.ts';
import { MAX_VARIABLES } from '../../lib/command-limits.ts';
import { MAX_PATHS } from '../../lib/path-limits.ts';
import { MAX_RULES } from '../../lib/permissions/pattern-limits.ts';
import { choosing } from '../../lib/sandboxes/changes/chosen-paths.ts';

/** The least number of steps for so many entries: a few hundred of them take about a millisecond. */
const least = (entries: number) => Math.floor(entries / 300);
const paths = Array.from({ length: MAX_PATHS }, (_, index) => `d/f${index}`);
const permissions = Array.from({ length: MAX_RULES }, (_, index) => {
  return { pattern: `d${index}/*.x`, permission: 'PERMISSION_READ' };
});
const env = Object.fromEntries(Array.from({ length: MAX_VARIABLES }, (_, index) => [`A${index}`, 'value']));

function counted<T>(steps: Generator<undefined, T, void>): { result: T; steps: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done) return { result: value, steps: count };
  }
}

describe('a request with the maximum number of entries is read in steps', () => {
  it.each([
    ['paths to discard', discard, { paths }],
    ['paths to commit', commit, { paths }],
    ['rules', updatePermissions, { permissions }],
    ['variables', exec, { env }],
  ])('%s', (_, { rpc, constraints }, body) => {
    const entries = Object.keys(Object.values(body)[0]!).length;
    const { result, steps } = counted(readingRequest(requestFields(rpc as Rpc, constraints), { body }));
    expect(result).toMatchObject(body);
    expect(steps).toBeGreaterThan(least(entries));
  });

  it('which become paths of the file system', () => {
    const { result, steps } = counted(choosing(paths));
    expect(result).toEqual(paths);
    expect(steps).toBeGreaterThan(least(MAX_PATHS));
  });
});
