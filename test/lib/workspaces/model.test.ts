import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';
import { ModelFileSystem } from './model.ts';
import { outcome, rule, Sandbox } from './sandbox.ts';

/** Number of random sequences, each about 20 ms: five for each of `PADDOCK_MODEL_RUNS`. */
const RUNS = 5 * Number(process.env.PADDOCK_MODEL_RUNS ?? 30);

const RULES = [rule('/**', 'WRITE'), rule('**/ro', 'READ', 1), rule('b/c/**', 'READ', 1), rule('**/ro/a', 'WRITE', 2)];

function mayWrite(path: string): boolean {
  if (/(^|\/)ro\/a$/.test(path)) return true;
  return !/(^|\/)ro$/.test(path) && !/^b\/c(\/|$)/.test(path);
}

const BASE = {
  'a/a': 'base-a',
  'a/b/a': 'base-b',
  'b/c/a': 'base-c',
  'b/a': 'base-d',
  ro: 'base-ro',
  'c/ro/a': 'base-e',
};

interface Run {
  s: Sandbox;
  model: ModelFileSystem;
  checkpoints: { layer: string; model: ModelFileSystem }[];
  /** Forked sandboxes, with the tree at the fork, which must not change. */
  left: { spec: WorkspaceSpec; tree: Record<string, string> }[];
}

type Step = (run: Run) => [got: string, expected: string];

const path = fc
  .array(fc.constantFrom('a', 'b', 'c', 'ro'), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'));
/** Sizes around the limits between the kinds of places for contents. */
const offset = fc
  .tuple(fc.constantFrom(0, 0, 0, 4096, 16384, 65536), fc.nat(9))
  .map(([size, near]) => Math.max(0, size - 5 + near));
const text = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('x', 'y', 'z') });

function step(name: string, act: Step): { name: string; act: Step } {
  return { name, act };
}

const steps = fc.oneof(
  fc
    .tuple(path, text)
    .map(([at, content]) =>
      step(`create ${at} ${content}`, ({ s, model }) => [
        outcome(() => s.create(at, content)),
        model.create(at, content),
      ]),
    ),
  path.map((at) => step(`mkdir ${at}`, ({ s, model }) => [outcome(() => s.mkdir(at)), model.mkdir(at)])),
  path.map((at) =>
    step(`symlink ${at}`, ({ s, model }) => [outcome(() => s.symlink('t', at)), model.symlink('t', at)]),
  ),
  fc
    .tuple(path, text, offset)
    .map(([at, content, from]) =>
      step(`write ${at} ${content} at ${from}`, ({ s, model }) => [
        outcome(() => s.write(at, content, from)),
        model.write(at, content, from),
      ]),
    ),
  fc
    .tuple(path, offset)
    .map(([at, size]) =>
      step(`truncate ${at} ${size}`, ({ s, model }) => [outcome(() => s.set(at, { size })), model.truncate(at, size)]),
    ),
  fc
    .tuple(path, path)
    .map(([from, to]) =>
      step(`link ${from} ${to}`, ({ s, model }) => [outcome(() => s.link(from, to)), model.link(from, to)]),
    ),
  fc
    .tuple(path, path)
    .map(([from, to]) =>
      step(`rename ${from} ${to}`, ({ s, model }) => [outcome(() => s.rename(from, to)), model.rename(from, to)]),
    ),
  path.map((at) => step(`unlink ${at}`, ({ s, model }) => [outcome(() => s.unlink(at)), model.unlink(at)])),
  path.map((at) => step(`rmdir ${at}`, ({ s, model }) => [outcome(() => s.rmdir(at)), model.rmdir(at)])),
  fc.constant(
    step('restart', ({ s }) => {
      s.restart();
      return ['ok', 'ok'];
    }),
  ),
  fc.constant(
    step('checkpoint', (run) => {
      const { layer } = run.s.fs.freeze(run.s.spec.id);
      run.checkpoints.push({ layer, model: run.model.copy() });
      return ['ok', 'ok'];
    }),
  ),
  fc.nat(9).map((which) =>
    step(`rollback ${which}`, (run) => {
      const { length } = run.checkpoints;
      if (length === 0) return ['ok', 'ok'];
      const { layer, model } = run.checkpoints[which % length]!;
      run.s.fs.rollback(run.s.spec.id, layer);
      run.model = model.copy();
      return ['ok', 'ok'];
    }),
  ),
  fc.constant(
    step('fork', (run) => {
      const { s } = run;
      const { layer } = s.fs.freeze(s.spec.id);
      run.left.push({ spec: s.spec, tree: run.model.tree() });
      s.goOn({ ...s.spec, id: `${s.spec.id}x`, delta: `${s.spec.delta}x`, origin: layer });
      return ['ok', 'ok'];
    }),
  ),
  fc.constant(
    step('forget all', ({ s }) => {
      s.forgetAll();
      return ['ok', 'ok'];
    }),
  ),
);

const program = fc.array(steps, { minLength: 1, maxLength: 40 });

describe('an arbitrary sequence of operations', () => {
  it('has the same results as a simple file system in memory, with rules and across restarts', {
    timeout: 600_000,
  }, () => {
    fc.assert(
      fc.property(program, (sequence) => {
        const s = new Sandbox(BASE, { rules: RULES, layers: mkdtempSync(join(tmpdir(), 'layers-test-')) });
        try {
          const model = new ModelFileSystem(() => true);
          for (const at of ['a', 'a/b', 'b', 'b/c', 'c', 'c/ro']) model.mkdir(at);
          for (const [at, content] of Object.entries(BASE)) model.create(at, content);
          const run: Run = { s, model: model.under(mayWrite), checkpoints: [], left: [] };
          for (const { name, act } of sequence) {
            const [got, expected] = act(run);
            expect(`${name}: ${got}`).toBe(`${name}: ${expected}`);
            expect(s.tree()).toEqual(run.model.tree());
          }
          s.restart();
          expect(s.tree()).toEqual(run.model.tree());
          for (const { spec, tree } of run.left) {
            s.goOn(spec);
            expect(s.tree()).toEqual(tree);
          }
        } finally {
          s.remove();
          rmSync(s.spec.layers!, { recursive: true });
        }
      }),
      { numRuns: RUNS, reporter: (details) => fail(details) },
    );
  });
});

function fail(details: fc.RunDetails<[{ name: string; act: Step }[]]>): void {
  if (!details.failed) return;
  const sequence = details.counterexample?.[0].map(({ name }) => name).join('; ');
  throw new Error(`seed ${details.seed}: ${sequence}\n${details.errorInstance}`);
}
