import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FileOperation } from '../../../lib/workspaces/workspace-files.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';

/** Number of random sequences, each about 40 ms. */
const RUNS = Number(process.env.PADDOCK_MODEL_RUNS ?? 30);

const NAMES = ['a', 'b', 'h'];
/** The agent sees nothing at `h`, and a directory there only for the sake of `h/a`. */
const RULES = [rule('/**', 'WRITE'), rule('**/h', 'NONE', 1), rule('**/h/**', 'NONE', 1), rule('**/h/a', 'READ', 2)];
const BASE = { 'a/a': '1', 'a/b/a': '2', 'a/h': '3', 'b/h/a': '4', 'b/a': '5', h: '6' };

interface Dentry {
  parent: string;
  dir: number;
  name: string;
  id: number | undefined;
}

const pathOf = ({ parent, name }: Pick<Dentry, 'parent' | 'name'>) => (parent === '' ? name : `${parent}/${name}`);

/** Looks names up in all directories, and returns what a kernel has cached then. */
function lookUp(s: Sandbox, names: readonly string[]): Dentry[] {
  const known: Dentry[] = [];
  const directories = [''];
  for (const parent of directories) {
    const dir = s.id(parent);
    for (const name of NAMES) {
      if (!names.includes(name)) continue;
      const path = pathOf({ parent, name });
      // An error is not cached.
      if (outcome(() => s.lookup(path)) !== 'ok') continue;
      const entry = s.lookup(path);
      known.push({ parent, dir, name, id: entry?.nodeid });
      if (entry !== undefined && (entry.attr.mode & 0o170000) === 0o040000) directories.push(path);
    }
  }
  return known;
}

/** Dentries that are wrong now, and of which the kernel was not told. */
function stale(s: Sandbox, known: readonly Dentry[]): string[] {
  const told = new Set(s.notices.entries);
  const wrong = known.filter((dentry) => {
    const { parent, dir, name, id } = dentry;
    if (told.has(`${dir}/${name}`)) return false;
    // Below a dentry that is wrong itself.
    if (outcome(() => s.id(parent)) !== 'ok' || s.id(parent) !== dir) return false;
    return outcome(() => s.lookup(pathOf(dentry))) !== 'ok' || s.lookup(pathOf(dentry))?.nodeid !== id;
  });
  return wrong.map((dentry) => `${pathOf(dentry)}: ${dentry.id === undefined ? 'absent' : 'there'}`);
}

function upload(s: Sandbox, path: string): void {
  const call = (operation: FileOperation, ...args: unknown[]) => s.fs.files(s.spec.id, 'owner', operation, args);
  call('place', call('stage', Buffer.from('owner')), path, 0);
}

interface Run {
  s: Sandbox;
  layers: string[];
}

type Step = { name: string; act: (run: Run) => string[] };

const path = fc.constantFrom('a', 'b', 'h', 'a/a', 'a/b', 'a/h', 'b/a', 'b/b', 'b/h', 'h/a', 'a/b/a', 'b/h/a');

/** A step whose outcome does not matter. */
function step(name: string, act: (run: Run) => unknown): Step {
  const quietly = (run: Run) => {
    try {
      outcome(() => act(run));
    } catch {
      // The owner's calls throw errors of the service.
    }
    return [];
  };
  return { name, act: quietly };
}

const change = fc.oneof(
  path.map((at) => step(`create ${at}`, ({ s }) => s.create(at, 'x'))),
  path.map((at) => step(`mkdir ${at}`, ({ s }) => s.mkdir(at))),
  path.map((at) => step(`unlink ${at}`, ({ s }) => s.unlink(at))),
  path.map((at) => step(`rmdir ${at}`, ({ s }) => s.rmdir(at))),
  path.map((at) => step(`upload ${at}`, ({ s }) => upload(s, at))),
  fc.tuple(path, path).map(([from, to]) => step(`rename ${from} ${to}`, ({ s }) => s.rename(from, to))),
  fc.tuple(path, path).map(([from, to]) => step(`link ${from} ${to}`, ({ s }) => s.link(from, to))),
);

const rollback = fc.tuple(fc.nat(2), fc.subarray(NAMES, { minLength: 2 })).map(([which, names]) => ({
  name: `rollback ${which} after lookups of ${names}`,
  act: ({ s, layers }: Run) => {
    const known = lookUp(s, names);
    s.notices.entries.length = 0;
    s.fs.rollback(s.spec.id, layers[which % layers.length]!);
    return stale(s, known);
  },
}));

const steps = fc.oneof(
  { arbitrary: change, weight: 5 },
  { arbitrary: fc.constant(step('forget all', ({ s }) => s.forgetAll())), weight: 1 },
  {
    arbitrary: fc.constant(step('checkpoint', ({ s, layers }) => layers.push(s.fs.freeze(s.spec.id).layer))),
    weight: 1,
  },
  { arbitrary: rollback, weight: 3 },
);

describe('a rollback after an arbitrary sequence of operations', () => {
  it('leaves no stale dentry of which the kernel was not told, with names that rules hide', {
    timeout: 600_000,
  }, () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 10, maxLength: 30, size: 'max' }), (sequence) => {
        const s = new Sandbox(BASE, { rules: RULES, layers: mkdtempSync(join(tmpdir(), 'layers-test-')) });
        try {
          const run: Run = { s, layers: [s.fs.freeze(s.spec.id).layer] };
          for (const [index, { name, act }] of sequence.entries()) {
            const before = sequence.slice(0, index).map((each) => each.name);
            expect({ before, name, stale: act(run) }).toEqual({ before, name, stale: [] });
          }
        } finally {
          s.remove();
          rmSync(s.spec.layers!, { recursive: true });
        }
      }),
      { numRuns: RUNS },
    );
  });
});
