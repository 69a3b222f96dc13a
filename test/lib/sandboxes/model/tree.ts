import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Paths, each with what is there: `d MODE`, `f MODE CONTENT` or `l TARGET`. */
export type Tree = ReadonlyMap<string, string>;

export const directory = (mode = 0o755) => `d ${mode.toString(8)}`;
export const file = (content: string, mode = 0o644) => `f ${mode.toString(8)} ${content}`;
export const symlink = (target: string) => `l ${target}`;

export const isDirectory = (entry: string | undefined) => entry?.startsWith('d ') ?? false;
export const isFile = (entry: string | undefined) => entry?.startsWith('f ') ?? false;
export const isSymlink = (entry: string | undefined) => entry?.startsWith('l ') ?? false;
/** Of a file. */
export const contentOf = (entry: string) => entry.slice(entry.indexOf(' ', 2) + 1);
export const modeOf = (entry: string) => Number.parseInt(entry.split(' ', 2)[1]!, 8);

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

export function isAtOrBelow(path: string, top: string): boolean {
  return top === '' || path === top || path.startsWith(`${top}/`);
}

/** The path itself and those of all directories that it is in, without the root. */
export function* upwards(path: string): Generator<string> {
  for (let at = path; at !== ''; at = parentOf(at)) yield at;
}

export function same(a: Tree, b: Tree): boolean {
  if (a.size !== b.size) return false;
  for (const [path, entry] of a) if (b.get(path) !== entry) return false;
  return true;
}

/** Where they differ. */
export function difference(a: Tree, b: Tree): Set<string> {
  const paths = new Set<string>();
  for (const [path, entry] of a) if (b.get(path) !== entry) paths.add(path);
  for (const path of b.keys()) if (!a.has(path)) paths.add(path);
  return paths;
}

/** `base` with what `from` has at the chosen paths and below. */
export function overlaid(base: Tree, from: Tree, chosen: readonly string[]): Map<string, string> {
  const covers = (path: string) => chosen.some((top) => isAtOrBelow(path, top));
  const result = new Map([...base].filter(([path]) => !covers(path)));
  for (const [path, entry] of from) if (covers(path)) result.set(path, entry);
  for (const path of chosen) {
    if (![...result.keys()].some((each) => isAtOrBelow(each, path))) continue;
    for (const at of upwards(parentOf(path))) if (!isDirectory(result.get(at))) result.set(at, from.get(at)!);
  }
  return result;
}

/** For messages; contents are cut. */
export function shown(entry: string | undefined): string {
  if (entry === undefined) return 'nothing';
  return entry.length > 60 ? `${entry.slice(0, 30)}… (${entry.length})` : entry;
}

export function differenceShown(seen: Tree, expected: Tree): string {
  return [...difference(seen, expected)]
    .slice(0, 8)
    .map((path) => `${path}: ${shown(seen.get(path))} instead of ${shown(expected.get(path))}`)
    .join('; ');
}

/** A directory of the host, by names: nobody else changes it meanwhile. No symlink is followed. */
export function hostTree(root: string): Map<string, string> {
  const tree = new Map<string, string>();
  const visit = (path: string) => {
    for (const dirent of readdirSync(join(root, path), { withFileTypes: true })) {
      const at = path === '' ? dirent.name : `${path}/${dirent.name}`;
      const host = join(root, at);
      if (dirent.isSymbolicLink()) tree.set(at, symlink(readlinkSync(host)));
      else {
        const mode = lstatSync(host).mode & 0o777;
        tree.set(at, dirent.isDirectory() ? directory(mode) : file(readFileSync(host, 'latin1'), mode));
        if (dirent.isDirectory()) visit(at);
      }
    }
  };
  visit('');
  return tree;
}
