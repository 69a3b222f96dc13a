import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { isDirectory } from '../../../lib/linux/mode.ts';
import { commitInStages } from './commit.ts';
import { onDisk } from './on-disk.ts';
import { outcome, Sandbox } from './sandbox.ts';
import { SteadyReaders } from './steady-readers.ts';

/** More in a search for faults: COMMIT_ROUNDS=4000 npx vitest run test/lib/workspaces/changed-during-commit-model.test.ts */
const ROUNDS = Number(process.env.COMMIT_ROUNDS ?? 150);
const MOST_COMMITS = 8;

const DOES = ['create', 'mkdir', 'rename', 'chmod 755', 'chmod 700', 'chmod 775'] as const;

/** What is done at a path depends on what is there: nothing, a file, an empty directory, or one with entries. */
interface Step {
  path: string;
  does: (typeof DOES)[number];
  to: string;
}

/** The same steps in a sandbox and in a plain directory, its model. */
class Twins {
  readonly s: Sandbox;
  readonly model = mkdtempSync(join(tmpdir(), 'commit-model-'));
  readonly done: string[] = [];
  readonly #work: (readonly Step[])[];
  readonly #readers: SteadyReaders;

  /** `work`: what is done from one moment of a commit to the next. */
  constructor(base: readonly string[], work: readonly (readonly Step[])[]) {
    this.s = new Sandbox(Object.fromEntries(base.map((path) => [path, 'base'])));
    this.#work = [...work];
    this.#readers = new SteadyReaders(this.s);
    for (const path of base) {
      mkdirSync(dirname(join(this.model, path)), { recursive: true });
      writeFileSync(join(this.model, path), 'base');
    }
  }

  get isOver(): boolean {
    return this.#work.length === 0;
  }

  /** Its files stay open until then. */
  remove(): void {
    this.s.remove();
    rmSync(this.model, { recursive: true, force: true });
  }

  compare(): void {
    this.#readers.goOn(this.done.join('; '));
    const [shown, expected] = [this.s.tree(), onDisk(this.model)];
    expect(shown, this.done.join('; ')).toEqual(expected);
    const modes = (modeOf: (path: string) => number) => Object.keys(shown).map((path) => [path, modeOf(path) & 0o777]);
    expect(
      modes((path) => this.s.stat(path).mode),
      this.done.join('; '),
    ).toEqual(modes((path) => modeAt(this.model, path)));
  }

  work(moment: string): void {
    this.done.push(moment);
    this.compare();
    for (const step of this.#work.shift() ?? []) this.#step(step);
  }

  #step({ path, does, to }: Step): void {
    const { s } = this;
    const at = join(this.model, path);
    const there = typeAt(at);
    const text = `${this.done.length}`;
    if (typeAt(dirname(at)) !== 'directory') return;
    if (there === undefined) {
      if (does === 'create') this.#both(`create ${path}`, s.create.bind(s, path, text), () => writeFileSync(at, text));
      else if (does === 'mkdir') this.#both(`mkdir ${path}`, s.mkdir.bind(s, path), () => mkdirSync(at));
    } else if (does.startsWith('chmod')) {
      const mode = Number.parseInt(does.slice(-3), 8) & (there === 'file' ? 0o666 : 0o777);
      this.#both(`chmod ${mode.toString(8)} ${path}`, s.set.bind(s, path, { mode }), () => chmodSync(at, mode));
    } else if (does === 'rename')
      this.#both(`mv ${path} ${to}`, s.rename.bind(s, path, to), () => renameSync(at, join(this.model, to)));
    else if (there === 'file') this.#both(`unlink ${path}`, s.unlink.bind(s, path), () => unlinkSync(at));
    else if (readdirSync(at).length === 0) this.#both(`rmdir ${path}`, s.rmdir.bind(s, path), () => rmdirSync(at));
    else this.#both(`rm -r ${path}`, removeTree.bind(null, s, path), () => rmSync(at, { recursive: true }));
  }

  #both(what: string, inSandbox: () => void, inModel: () => void): void {
    try {
      inModel();
    } catch {
      // A rename that is impossible.
      return;
    }
    this.done.push(what);
    expect(outcome(inSandbox), this.done.join('; ')).toBe('ok');
    this.#readers.goOn(this.done.join('; '));
  }
}

function modeAt(root: string, path: string): number {
  return statSync(join(root, path)).mode & 0o777;
}

function typeAt(path: string): 'directory' | 'file' | undefined {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}

function removeTree(s: Sandbox, path: string): void {
  if (!isDirectory(s.stat(path).mode)) {
    s.unlink(path);
    return;
  }
  for (const name of s.list(path)) removeTree(s, join(path, name));
  s.rmdir(path);
}

async function check(twins: Twins, crashes: readonly boolean[]): Promise<void> {
  const { s, model, done } = twins;
  const told = () => done.join('; ');
  twins.work('first');
  for (let commits = 0; commits < MOST_COMMITS && !twins.isOver; commits++) {
    const crash = crashes[commits] === true;
    const meanwhile = {
      before: () => twins.work('before the codebase has it'),
      during: () => twins.work('while it gets it'),
      after: () => twins.work(crash ? 'before the crash' : 'before the rebase'),
    };
    await commitInStages(s, meanwhile, crash);
  }
  twins.compare();
  const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, 1000);
  expect(
    changes.filter(({ conflict }) => conflict).map(({ path }) => path),
    told(),
  ).toEqual([]);
  await commitInStages(s);
  expect(onDisk(s.spec.base), told()).toEqual(onDisk(model));
  for (const path of Object.keys(onDisk(model)))
    expect(modeAt(s.spec.base, path), `${path} ${told()}`).toBe(modeAt(model, path));
  twins.compare();
}

const CODEBASES = [
  {
    name: 'two directories',
    base: ['p/a', 'p/b', 'q/d/e', 'q/d/g'],
    names: ['p', 'p/a', 'p/d', 'p/d/e', 'x', 'q', 'q/d', 'q/d/e', 'q/n'],
  },
  { name: 'renamed trees', base: ['p/d/a'], names: ['p', 'q', 'r', 'p/d', 'q/d', 'r/d', 'p/d/n', 'q/d/n', 'r/d/n'] },
  {
    name: 'new directories in renamed trees',
    base: ['p/d/a'],
    names: ['p', 'q', 'x', 'y', 'p/d', 'q/d', 'p/d/f', 'q/d/f', 'x/f', 'q/d/f/g', 'x/f/g', 'x/d/f/g'],
  },
  { name: 'few names', base: ['p/c', 'p/z'], names: ['p', 'p/c', 'p/d'] },
];

/** All that may be done below a directory that was renamed before: random steps seldom do it. */
const BELOW = [
  { path: 'r/d', does: 'rename', to: 'x' },
  { path: 'r/d/e', does: 'rename', to: 'x' },
  { path: 'r/d', does: 'rename', to: 'r/e' },
  { path: 'r/d', does: 'rename', to: 'q' },
  { path: 'r/d/new', does: 'create', to: '' },
  { path: 'r/d/new', does: 'mkdir', to: '' },
  { path: 'r/d/e', does: 'create', to: '' },
  { path: 'r/d', does: 'create', to: '' },
  { path: 'r', does: 'create', to: '' },
  { path: 'r/d', does: 'chmod 700', to: '' },
  { path: 'r', does: 'chmod 700', to: '' },
] as const;

const NEW_BELOW: readonly Step[] = [
  { path: 'q', does: 'rename', to: 'r' },
  { path: 'r/d/f', does: 'mkdir', to: '' },
  { path: 'r/d/f/g', does: 'create', to: '' },
  { path: 'r/d/f/h', does: 'create', to: '' },
];

/** Of a directory that the sandbox made in one that was renamed before, when it leaves that one. */
const LEAVES: readonly (readonly [Step, ...Step[]])[] = [
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f/g', does: 'rename', to: 'y' },
  ],
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f/g', does: 'create', to: '' },
  ],
  [
    { path: 'r', does: 'rename', to: 'x' },
    { path: 'x/d/f/g', does: 'create', to: '' },
  ],
  [
    { path: 'r/d/f', does: 'rename', to: 'x' },
    { path: 'x/g', does: 'create', to: '' },
  ],
  [
    { path: 'r/d', does: 'rename', to: 'x' },
    { path: 'x/f', does: 'create', to: '' },
    { path: 'x/f', does: 'mkdir', to: '' },
  ],
];

describe('what programs do during a commit', () => {
  it.each(LEAVES.map((steps) => ({ named: steps.map(({ path, to }) => `${path} ${to}`).join(', '), steps })))(
    'is not lost in a new directory below one that was renamed before: $named',
    async ({ steps }) => {
      for (let moments = 0; moments < 24; moments++) {
        const twins = new Twins(['q/d/old'], [NEW_BELOW, ...Array.from({ length: moments }, () => []), steps]);
        try {
          await check(twins, []);
        } finally {
          twins.remove();
        }
      }
    },
  );

  it.each(BELOW)('is not lost below a directory that was renamed before: $does $path $to', async (step) => {
    for (let moments = 0; moments < 16; moments++) {
      const renamed: Step = { path: 'q', does: 'rename', to: 'r' };
      const twins = new Twins(['q/d/e', 'q/d/g'], [[renamed], ...Array.from({ length: moments }, () => []), [step]]);
      try {
        await check(twins, []);
      } finally {
        twins.remove();
      }
    }
  });

  it.each(['q/n', 'p'])(
    'does not take the mode of a directory of which the commit moves a part away, also to %s',
    async (made) => {
      const before: Step[] = [
        { path: 'q/d', does: 'rename', to: 'x' },
        { path: 'q', does: 'chmod 700', to: '' },
        { path: made, does: 'create', to: '' },
      ];
      for (let moments = 0; moments < 24; moments++) {
        const set: Step = { path: 'q', does: 'chmod 755', to: '' };
        const twins = new Twins(['q/d/e', 'q/f'], [before, ...Array.from({ length: moments }, () => []), [set]]);
        try {
          await check(twins, []);
        } finally {
          twins.remove();
        }
      }
    },
  );

  it.each(CODEBASES)(
    'is neither lost nor in conflict with it: $name',
    { timeout: 600_000 },
    async ({ base, names }) => {
      const step = fc.record({
        path: fc.constantFrom(...names),
        does: fc.constantFrom(...DOES),
        to: fc.constantFrom(...names),
      });
      const work = fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 6 * MOST_COMMITS, size: 'max' });
      await fc.assert(
        fc.asyncProperty(work, fc.array(fc.boolean()), async (segments, crashes) => {
          const twins = new Twins(base, segments);
          try {
            await check(twins, crashes);
          } finally {
            twins.remove();
          }
        }),
        { numRuns: ROUNDS },
      );
    },
  );
});
