import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConflictError } from '../../../clients/typescript/src/index.ts';
import { isPath } from '../../../clients/typescript/src/local/refusal.ts';
import { type Case, pulled } from './pull-cases.ts';
import { lock, own, ownersOf, put, snapshot, unlock } from './pull-trees.ts';

const SPEC = resolve(import.meta.dirname, '../../../clients/spec/pull');
interface File {
  cases: Case[];
  names?: { path: string; posix: boolean; windows: boolean }[];
}
const files = readdirSync(SPEC).filter((name) => name.endsWith('.json'));
const specs = files.map((name) => [name, JSON.parse(readFileSync(join(SPEC, name), 'utf8')) as File] as const);

let above: string;
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'paddock-vectors-'));
});
afterEach(() => rmSync(above, { recursive: true }));

/** A tree of the case, in a directory of its own. */
function made(name: string, ...trees: (Case['base'] | undefined)[]): string {
  const root = join(above, name, 'home');
  mkdirSync(root, { recursive: true });
  for (const tree of trees) put(root, tree ?? {});
  return root;
}

async function check(given: Case, root: string, dryRun: boolean): Promise<void> {
  const { expect: { skipped = {}, ...lists } = {}, raises, error } = given;
  if (raises || error !== undefined) {
    const thrown = await pulled(given, root, { dryRun }).catch((each: unknown) => each as Error);
    expect(thrown).toBeInstanceOf(Error);
    if (raises) expect((thrown as ConflictError).paths).toEqual(raises);
    else expect((thrown as Error).message).toContain(error);
    return;
  }
  const reasons = Object.entries(skipped).map(([path, reason]) => [path, expect.stringContaining(reason)]);
  expect(await pulled(given, root, { dryRun })).toEqual({
    ...{ applied: [], unchanged: [], conflicts: [], failed: [], ...lists },
    skipped: Object.fromEntries(reasons),
  });
}

describe.each(specs)('%s', (_, { cases }) => {
  it.each(cases)('$name', async (given) => {
    const { base, local, after, umask = '022', readonly = [], owners = {}, owned = {} } = given;
    const before = process.umask(Number.parseInt(umask, 8));
    const root = made('real', base, local);
    own(root, owners);
    lock(root, readonly);
    try {
      if (given.dry !== false && !given.meanwhile) {
        await check(given, root, true);
        expect(snapshot(root)).toEqual(snapshot(made('before', base, local)));
      }
      await check(given, root, false);
    } finally {
      unlock(root, readonly);
      process.umask(before);
    }
    expect(snapshot(root)).toEqual(snapshot(made('expected', base, local, after)));
    expect(readdirSync(join(root, '..'))).toEqual(['home']);
    expect(ownersOf(root, Object.keys(owned))).toEqual(owned);
  });
});

it.each(specs.flatMap(([, { names = [] }]) => names))('$path is a name here: $posix, on Windows: $windows', (given) => {
  expect([isPath(given.path, '/'), isPath(given.path, '\\')]).toEqual([given.posix, given.windows]);
});
