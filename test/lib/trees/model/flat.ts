import { entriesOf } from '../../../../lib/trees/directory/entries.ts';
import type { Source } from '../../../../lib/trees/directory/source.ts';
import { type Entry, isDirectory } from '../../../../lib/trees/format/entry.ts';
import type { Key } from '../../../../lib/trees/format/keys.ts';

/** A tree as a map from paths to what a user sees there: `d` with the mode of a directory, or `f` with mode and contents. */
export type Flat = ReadonlyMap<string, string>;

/** `contents`: those behind a key, wherever they are. */
export function flatten(source: Source, tree: Entry | undefined, contents: (key: Key) => string): Flat {
  const flat = new Map<string, string>();
  const go = (path: string, entry: Entry) => {
    const directory = isDirectory(entry);
    flat.set(path, directory ? `d${entry.mode}` : `f${entry.mode}:${contents(entry.key)}`);
    if (directory) for (const child of entriesOf(source, entry.key)) go(join(path, child.name), child);
  };
  if (tree !== undefined) go('', tree);
  return flat;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The directories above a path, without the root. */
export function parentsOf(path: string): string[] {
  const parents: string[] = [];
  for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) parents.push(parent);
  return parents;
}

export function isBelow(path: string, other: string): boolean {
  return other.startsWith(`${path}/`);
}

export function isDirectoryAt(flat: Flat, path: string): boolean {
  return flat.get(path)?.startsWith('d') ?? false;
}

export function isFileAt(flat: Flat, path: string): boolean {
  return flat.get(path)?.startsWith('f') ?? false;
}

export function pathsOf(...flats: Flat[]): Set<string> {
  return new Set(flats.flatMap((flat) => [...flat.keys()]));
}

/** A path without a directory above it; undefined if there is none. */
export function orphan(flat: Flat): string | undefined {
  return [...flat.keys()].find((path) => parentsOf(path).some((parent) => !isDirectoryAt(flat, parent)));
}

export function show(flat: Flat): string {
  return [...flat].map(([path, what]) => `${path}=${what.slice(0, 8)}`).join(' ');
}
