import { join } from 'node:path';
import { type ByteString, fromLatin1, joinPath, ROOT_PATH } from '../../byte-string.ts';
import type { ImportMode } from '../../field-values.ts';
import { HeldDirectories } from '../../host-tree/held-directories.ts';
import { HostTree } from '../../host-tree/host-tree.ts';
import { WritableTree } from '../../host-tree/writable-tree.ts';
import { errorCode } from '../../linux/errno.ts';
import type { Contents } from '../totals.ts';
import { RecordWriter, readRecords } from './record-file.ts';
import { otherType } from './refused-imports.ts';
import { Removals } from './removals.ts';
import { DIRECTORIES, TREE } from './staged-tree.ts';

/** Names in a staging directory: the steps, and what they take out of the codebase. */
const STEPS = 'steps';
export const OLD = 'old';
/** Directories kept open of each tree. */
const OPEN = 64;
/** Paths that are listed; beyond them, only the directories in the root that they are in. */
const MAX_LISTED = 50_000;

/** What a graft will change. */
export interface GraftPlan {
  /** Changed paths; what is below them may change, too. */
  paths: ByteString[];
  /** Paths that the codebase will no longer have. */
  removed: ByteString[];
  growth: Contents;
}

/**
 * Lists the steps that bring the staged tree into the codebase's files, in a file of the staging directory. A staged
 * directory that the codebase does not have is one step. The list is durable when it returns. Throws FAILED_PRECONDITION where one of them has a directory
 * and the other one another type. Nothing else changes the files until the steps are made.
 */
export function planGraft(
  staging: string,
  files: string,
  { mode, staged, held, lists }: { mode: ImportMode; staged: Contents; held: Contents; lists: boolean },
): GraftPlan {
  const steps = new RecordWriter(join(staging, STEPS));
  const directories = new HeldDirectories(2 * OPEN);
  const from = new HostTree(join(staging, TREE), directories);
  const to = new HostTree(files, directories);
  try {
    let plan: GraftPlan;
    if (mode !== 'replace') {
      const removals = mode === 'update' ? new Removals(steps, to, lists) : undefined;
      plan = planMerge({ steps, from, to, removals, directories: join(staging, DIRECTORIES) }, staged);
    } else {
      const tops = planReplace(steps, from, to);
      const { common, removed } = lists ? pathsBelow(from, to) : { common: [], removed: [] };
      plan = { paths: [...tops, ...common], removed, growth: difference(staged, held) };
    }
    steps.end(true);
    return plan;
  } finally {
    steps.end();
    from.close();
    to.close();
  }
}

function planReplace(steps: RecordWriter, from: HostTree, to: HostTree): ByteString[] {
  const paths = new Set<ByteString>();
  let number = 0;
  for (const { name } of to.entries(ROOT_PATH)) {
    const path = fromLatin1(name);
    steps.add({ kind: 'drop', path, a: number++, b: 0 });
    // At once, so that the name is missing for a moment only.
    if (from.lstat(path) !== undefined) steps.add({ kind: 'put', path, a: 0, b: 0 });
    paths.add(path);
  }
  for (const { name } of from.entries(ROOT_PATH)) {
    const path = fromLatin1(name);
    if (!paths.has(path)) steps.add({ kind: 'put', path, a: 0, b: 0 });
    paths.add(path);
  }
  return paths.size > MAX_LISTED ? [ROOT_PATH] : [...paths];
}

/** The paths that only the codebase has, and the first of those that both have. */
function pathsBelow(from: HostTree, to: HostTree): { common: ByteString[]; removed: ByteString[] } {
  const common: ByteString[] = [];
  const removed: ByteString[] = [];
  const waiting = [ROOT_PATH];
  for (let above = waiting.pop(); above !== undefined; above = waiting.pop()) {
    for (const entry of to.entries(above)) {
      const path = joinPath(above, fromLatin1(entry.name));
      if (entry.isDirectory()) waiting.push(path);
      const other = from.lstat(path);
      if (other === undefined || other.isDirectory() !== entry.isDirectory()) removed.push(path);
      if (common.length < MAX_LISTED && above !== ROOT_PATH) common.push(path);
    }
  }
  return { common, removed };
}

interface Merge {
  steps: RecordWriter;
  from: HostTree;
  to: HostTree;
  /** Absent: nothing is removed. */
  removals: Removals | undefined;
  directories: string;
}

function planMerge({ steps, from, to, removals, directories }: Merge, staged: Readonly<Contents>): GraftPlan {
  const growth = { ...staged };
  const changed = new ChangedPaths();
  const waiting = [ROOT_PATH];
  for (let above = waiting.pop(); above !== undefined; above = waiting.pop()) {
    for (const entry of from.entries(above)) {
      const path = joinPath(above, fromLatin1(entry.name));
      const removed = removals?.namedBy(path, from);
      if (removed !== undefined) {
        growth.files--;
        if (removals?.remove(removed, growth)) changed.add(removed);
        continue;
      }
      let there = to.lstat(path);
      if (there?.isDirectory() && entry.isDirectory()) {
        growth.directories--;
        waiting.push(path);
        continue;
      }
      if (there !== undefined && (there.isDirectory() || entry.isDirectory())) {
        if (!removals?.remove(path, growth))
          throw otherType(path, there.isDirectory() ? 'directory' : there.isSymbolicLink() ? 'symlink' : 'file');
        there = undefined;
      }
      if (entry.isDirectory()) removals?.requireNone(path, from);
      if (there !== undefined) {
        growth.files--;
        growth.bytes -= Number(there.size);
      }
      steps.add({ kind: 'put', path, a: 0, b: 0 });
      changed.add(path);
    }
  }
  for (const { path, a, b } of readRecords(directories)) {
    if (!to.lstat(path)?.isDirectory()) continue;
    steps.add({ kind: 'attr', path, a, b });
    changed.add(path);
  }
  return { paths: changed.list(), removed: removals?.paths ?? [], growth };
}

/** A bounded list of changed paths. */
class ChangedPaths {
  readonly #tops = new Set<ByteString>();
  #paths: ByteString[] | undefined = [];

  add(path: ByteString): void {
    const slash = path.indexOf('/');
    if (this.#tops.size <= MAX_LISTED) this.#tops.add(slash === -1 ? path : fromLatin1(path.slice(0, slash)));
    if (this.#paths !== undefined && this.#paths.push(path) > MAX_LISTED) this.#paths = undefined;
  }

  list(): ByteString[] {
    return this.#paths ?? (this.#tops.size > MAX_LISTED ? [ROOT_PATH] : [...this.#tops]);
  }
}

function difference(a: Readonly<Contents>, b: Readonly<Contents>): Contents {
  return { files: a.files - b.files, bytes: a.bytes - b.bytes, directories: a.directories - b.directories };
}

/** Makes the steps of a plan. All of it can be repeated after a crash. Not durable when it returns. */
export function applyGraft(staging: string, files: string): void {
  const from = new WritableTree(join(staging, TREE));
  const old = new WritableTree(join(staging, OLD));
  const to = new WritableTree(files);
  try {
    for (const { kind, path, a, b } of readRecords(join(staging, STEPS))) {
      if (kind === 'put') unlessMade(() => from.moveTo(path, to, path));
      else if (kind === 'attr') unlessMade(() => to.setDirectory(path, a, b));
      else drop(to, path, old, fromLatin1(String(a)));
    }
  } finally {
    from.close();
    old.close();
    to.close();
  }
}

/** The number is used once, so a repeated step does not take away what a later one has put there. */
function drop(to: WritableTree, path: ByteString, old: WritableTree, number: ByteString): void {
  if (old.lstat(number) === undefined) unlessMade(() => to.moveTo(path, old, number));
}

function unlessMade(step: () => void): void {
  try {
    step();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
