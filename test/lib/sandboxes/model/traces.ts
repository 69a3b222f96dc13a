import type { Known } from './known.ts';
import { contentOf, isAtOrBelow, isFile, type Tree } from './tree.ts';

export function touch(known: Known, paths: readonly string[], contents: readonly string[] = []): void {
  for (const path of paths) known.touched.add(path);
  for (const content of contents) known.own.add(content);
}

export function lose(known: Known, paths: readonly string[]): void {
  for (const path of paths) known.removed.add(path);
}

export function move(known: Known, from: string, to: string, both: boolean): void {
  const moved = (path: string) => {
    if (isAtOrBelow(path, from)) return to + path.slice(from.length);
    return both && isAtOrBelow(path, to) ? from + path.slice(to.length) : path;
  };
  known.aliases = known.aliases.map((names) => new Set([...names, ...[...names].map(moved)]));
}

export function mayBeOne(known: Known, from: string, to: string): boolean {
  return namesOf(known, from).has(to);
}

/** All that may be names of the file at the path. */
export function namesOf({ aliases }: Known, path: string): Set<string> {
  const names = new Set([path]);
  // What is added is looked at as well.
  for (const name of names) for (const each of aliases) if (each.has(name)) for (const other of each) names.add(other);
  return names;
}

/** Of a file that is renamed or linked itself. */
export function ownOf(tree: Tree, path: string): string[] {
  const entry = tree.get(path);
  return isFile(entry) ? [contentOf(entry!)] : [];
}
