import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { isDirectory } from '../../../lib/linux/mode.ts';
import { commitAll } from './commit.ts';
import { outcome, Sandbox } from './sandbox.ts';

/** More in a search for faults: COMMIT_ROUNDS=4000 npx vitest run test/lib/workspaces/changed-during-commit-model.test.ts */
const ROUNDS = Number(process.env.COMMIT_ROUNDS ?? 250);
const MOST_STEPS = 6;
const COMMITS = 3;
const BASE = ['p/a', 'p/b', 'q/d/e', 'q/d/g'];
const NAMES = ['p', 'p/a', 'p/d', 'p/d/e', 'x', 'q', 'q/d', 'q/d/e'];

type Random = (below: number) => number;
type Tree = Record<string, string>;

/** mulberry32. */
function random(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The same steps in a sandbox and in a plain directory, its model. */
class Twins {
  readonly s = new Sandbox(Object.fromEntries(BASE.map((path) => [path, 'base'])));
  readonly model = mkdtempSync(join(tmpdir(), 'commit-model-'));
  readonly done: string[] = [];
  /** A removal of many failed in its middle, so that the model does not know its result. */
  isLost = false;
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = random(seed);
    onTestFinished(() => this.remove());
    for (const path of BASE) {
      mkdirSync(dirname(join(this.model, path)), { recursive: true });
      writeFileSync(join(this.model, path), 'base');
    }
  }

  /** Its files stay open until then. Again: nothing. */
  remove(): void {
    this.s.remove();
    rmSync(this.model, { recursive: true, force: true });
  }

  steps(): void {
    for (let left = this.#random(MOST_STEPS + 1); left > 0; left--) this.#step();
    this.done.push('|');
  }

  #step(): void {
    const path = NAMES[this.#random(NAMES.length)]!;
    const at = join(this.model, path);
    const parent = dirname(at);
    if (!existsSync(parent) || !statSync(parent).isDirectory()) return;
    const there = statSync(at, { throwIfNoEntry: false });
    const text = `${this.done.length}`;
    if (there === undefined) {
      if (this.#random(2) === 0)
        this.#both(
          'mkdir',
          path,
          () => this.s.mkdir(path),
          () => mkdirSync(at),
        );
      else
        this.#both(
          'create',
          path,
          () => this.s.create(path, text),
          () => writeFileSync(at, text),
        );
    } else if (!there.isDirectory())
      this.#both(
        'unlink',
        path,
        () => this.s.unlink(path),
        () => unlinkSync(at),
      );
    else if (readdirSync(at).length === 0)
      this.#both(
        'rmdir',
        path,
        () => this.s.rmdir(path),
        () => rmdirSync(at),
      );
    else
      this.#both(
        'rm -r',
        path,
        () => removeTree(this.s, path),
        () => rmSync(at, { recursive: true }),
      );
  }

  /** A name that was removed before the codebase got it is shown until the rebase: then the step fails in the sandbox. */
  #both(what: string, path: string, inSandbox: () => void, inModel: () => void): void {
    this.done.push(`${what} ${path}`);
    if (outcome(inSandbox) === 'ok') inModel();
    else {
      this.done.push('failed');
      this.isLost ||= what === 'rm -r';
    }
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

function shown(s: Sandbox, at = ''): Tree {
  const tree: Tree = {};
  for (const path of s.list(at).map((name) => join(at, name))) {
    if (isDirectory(s.stat(path).mode)) Object.assign(tree, { [path]: '/' }, shown(s, path));
    else tree[path] = s.read(path);
  }
  return tree;
}

function onDisk(root: string): Tree {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const at = join(entry.parentPath, entry.name);
      return [at.slice(root.length + 1), entry.isDirectory() ? '/' : readFileSync(at, 'utf8')];
    }),
  );
}

it('what programs do during a commit is neither lost nor in conflict with it', () => {
  for (let seed = 0; seed < ROUNDS; seed++) {
    const twins = new Twins(seed);
    const { s, model, done } = twins;
    const told = () => `seed ${seed}: ${done.join('; ')}`;
    twins.steps();
    for (let commit = 0; commit < COMMITS; commit++) {
      commitAll(s, false, { before: () => twins.steps(), after: () => twins.steps() });
    }
    if (twins.isLost) {
      twins.remove();
      continue;
    }
    expect(shown(s), told()).toEqual(onDisk(model));
    const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, 1000);
    expect(
      changes.filter(({ conflict }) => conflict).map(({ path }) => path),
      told(),
    ).toEqual([]);
    commitAll(s);
    expect(onDisk(s.spec.base), told()).toEqual(onDisk(model));
    expect(shown(s), told()).toEqual(onDisk(model));
    twins.remove();
  }
});
