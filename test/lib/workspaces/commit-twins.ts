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
import { expect } from 'vitest';
import { ROOT_PATH } from '../../../lib/byte-string.ts';
import { isDirectory } from '../../../lib/linux/mode.ts';
import { commitPaused } from './commit.ts';
import { onDisk } from './on-disk.ts';
import { outcome, Sandbox } from './sandbox.ts';
import { SteadyReaders } from './steady-readers.ts';

export const MOST_COMMITS = 8;

export const DOES = [
  'create',
  'create as in the base',
  'mkdir',
  'rename',
  'exchange',
  'chmod 755',
  'chmod 700',
  'chmod 775',
] as const;

const IN_BASE = 'base';
const EXCHANGE = 2;

/** What is done at a path depends on what is there: nothing, a file, an empty directory, or one with entries. */
export interface Step {
  path: string;
  does: (typeof DOES)[number];
  to: string;
}

/** The same steps in a sandbox and in a plain directory, its model. */
export class Twins {
  readonly s: Sandbox;
  readonly model = mkdtempSync(join(tmpdir(), 'commit-model-'));
  readonly done: string[] = [];
  readonly #work: (readonly Step[])[];
  readonly #readers: SteadyReaders;

  /** `work`: what is done from one moment of a commit to the next. */
  constructor(base: readonly string[], work: readonly (readonly Step[])[]) {
    this.s = new Sandbox(Object.fromEntries(base.map((path) => [path, IN_BASE])));
    this.#work = [...work];
    this.#readers = new SteadyReaders(this.s);
    for (const path of base) {
      mkdirSync(dirname(join(this.model, path)), { recursive: true });
      writeFileSync(join(this.model, path), IN_BASE);
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
    const text = does === 'create as in the base' ? IN_BASE : `${this.done.length}`;
    if (typeAt(dirname(at)) !== 'directory') return;
    if (there === undefined) {
      if (does.startsWith('create'))
        this.#both(`${does} ${path}`, s.create.bind(s, path, text), () => writeFileSync(at, text));
      else if (does === 'mkdir') this.#both(`mkdir ${path}`, s.mkdir.bind(s, path), () => mkdirSync(at));
    } else if (does.startsWith('chmod')) {
      const mode = Number.parseInt(does.slice(-3), 8) & (there === 'file' ? 0o666 : 0o777);
      this.#both(`chmod ${mode.toString(8)} ${path}`, s.set.bind(s, path, { mode }), () => chmodSync(at, mode));
    } else if (does === 'rename')
      this.#both(`mv ${path} ${to}`, s.rename.bind(s, path, to), () => renameSync(at, join(this.model, to)));
    else if (does === 'exchange')
      this.#both(`exchange ${path} ${to}`, s.rename.bind(s, path, to, EXCHANGE), () => exchange(this.model, path, to));
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

/** Throws if the kernel would. */
function exchange(root: string, path: string, to: string): void {
  const [from, target] = [join(root, path), join(root, to)];
  statSync(target);
  if (`${path}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${path}/`))
    throw new Error('one is in the other, or is it');
  const aside = mkdtempSync(join(tmpdir(), 'exchange-'));
  renameSync(from, join(aside, 'a'));
  renameSync(target, from);
  renameSync(join(aside, 'a'), target);
  rmdirSync(aside);
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

export function check(twins: Twins, crashes: readonly boolean[]): void {
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
    commitPaused(s, meanwhile, crash);
  }
  twins.compare();
  const { changes } = s.fs.changes(s.spec.id, ROOT_PATH, 1000);
  expect(
    changes.filter(({ conflict }) => conflict).map(({ path }) => path),
    told(),
  ).toEqual([]);
  commitPaused(s);
  expect(onDisk(s.spec.base), told()).toEqual(onDisk(model));
  for (const path of Object.keys(onDisk(model)))
    expect(modeAt(s.spec.base, path), `${path} ${told()}`).toBe(modeAt(model, path));
  twins.compare();
}
