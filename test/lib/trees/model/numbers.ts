import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import type { Sink, Source } from '../../../../lib/trees/directory/source.ts';
import { type Entry, identical, isDirectory } from '../../../../lib/trees/format/entry.ts';
import { withEntry } from '../edit.ts';
import { check } from './checks.ts';
import type { Flat } from './flat.ts';

/** All paths of a tree but the root. */
export function entriesBelow(source: Source, tree: Entry, path = ''): [path: string, entry: Entry][] {
  if (!isDirectory(tree)) return [];
  return [...entriesOf(source, tree.key)].flatMap((entry) => {
    const at = path === '' ? entry.name : `${path}/${entry.name}`;
    return [[at, entry] as [string, Entry], ...entriesBelow(source, entry, at)];
  });
}

/** By their numbers. */
function filesOf(source: Source, tree: Entry): Map<number, [path: string, entry: Entry][]> {
  const files = new Map<number, [path: string, entry: Entry][]>();
  for (const [path, entry] of entriesBelow(source, tree))
    files.set(entry.ino, [...(files.get(entry.ino) ?? []), [path, entry]]);
  return files;
}

/** The tree in which each file has as many names as are there: programs cannot make another one. */
export function counted(source: Source, sink: Sink, tree: Entry): Entry {
  let now = tree;
  for (const names of filesOf(source, tree).values())
    for (const [path, entry] of names)
      if (entry.nlink !== names.length) now = withEntry(source, sink, now, path, { ...entry, nlink: names.length });
  return now;
}

/** I13: what has one number is one file, and says how many names it has. */
export function checkNumbers(source: Source, tree: Entry, whose: string): void {
  for (const [ino, names] of filesOf(source, tree)) {
    const [[, first]] = names as [[string, Entry]];
    const told = () => `I13: ${whose} has number ${ino} at ${names.map(([path, { nlink }]) => `${path} (${nlink})`)}`;
    check(!isDirectory(first) || names.length === 1, told);
    for (const [, entry] of names)
      check(entry.nlink === names.length && identical({ ...entry, name: first.name }, first), told);
  }
}

/** I14: head gives a number once. What is behind it stays, and gets no other names. */
export class GivenNumbers {
  readonly #given = new Map<number, { what: string; paths: readonly string[] }>();

  check(source: Source, head: Entry, flat: Flat): void {
    for (const [ino, names] of filesOf(source, head)) {
      const paths = names.map(([path]) => path);
      const seen = flat.get(paths[0]!)!;
      const what = seen.startsWith('d') ? 'd' : seen;
      const before = this.#given.get(ino) ?? { what, paths };
      this.#given.set(ino, before);
      const holds = before.what === what && paths.every((path) => before.paths.includes(path));
      check(holds, () => `I14: head gives number ${ino} of ${before.paths} to ${paths}`);
    }
  }
}

/** I15: what stays in a sandbox has its number still. `stays`: the paths. */
export function checkKept(source: Source, before: Entry, after: Entry, stays: (path: string) => boolean): void {
  const now = new Map(entriesBelow(source, after));
  for (const [path, { ino }] of entriesBelow(source, before))
    if (stays(path)) check(now.get(path)?.ino === ino, () => `I15: ${path} has lost its number ${ino}`);
}
