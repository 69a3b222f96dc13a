import {
  contentOf,
  directory,
  file,
  isAtOrBelow,
  isDirectory,
  isFile,
  modeOf,
  parentOf,
  type Tree,
  upwards,
} from './tree.ts';

/** What operations do to a tree, as any file system does them. They are not decided here, only carried out. */
type Changed = Map<string, string>;

export function put(tree: Tree, path: string, entry: string): Changed {
  return new Map(tree).set(path, entry);
}

export function putWithParents(tree: Tree, path: string, entry: string): Changed {
  const changed = put(tree, path, entry);
  for (const at of upwards(parentOf(path))) if (!changed.has(at)) changed.set(at, directory());
  return changed;
}

/** With all below. */
export function without(tree: Tree, path: string): Changed {
  return new Map([...tree].filter(([at]) => !isAtOrBelow(at, path)));
}

/** A file of the codebase, and the directories that had nothing else in them. */
export function withoutFile(tree: Tree, path: string): Changed {
  const changed = without(tree, path);
  for (const at of upwards(parentOf(path))) {
    if ([...changed.keys()].some((each) => each.startsWith(`${at}/`))) break;
    changed.delete(at);
  }
  return changed;
}

export function renamed(tree: Tree, from: string, to: string): Changed {
  if (from === to) return new Map(tree);
  const changed = without(without(tree, to), from);
  for (const [path, entry] of tree) if (isAtOrBelow(path, from)) changed.set(to + path.slice(from.length), entry);
  return changed;
}

export function exchanged(tree: Tree, one: string, other: string): Changed {
  const changed = without(without(tree, one), other);
  for (const [path, entry] of tree) {
    if (isAtOrBelow(path, one)) changed.set(other + path.slice(one.length), entry);
    else if (isAtOrBelow(path, other)) changed.set(one + path.slice(other.length), entry);
  }
  return changed;
}

export function written(entry: string, offset: number, text: string): string {
  const content = contentOf(entry);
  const before = content.slice(0, offset).padEnd(offset, '\0');
  return file(before + text + content.slice(offset + text.length), modeOf(entry));
}

export function truncated(entry: string, size: number): string {
  return file(contentOf(entry).slice(0, size).padEnd(size, '\0'), modeOf(entry));
}

export function withMode(entry: string, mode: number): string {
  if (isDirectory(entry)) return directory(mode);
  return isFile(entry) ? file(contentOf(entry), mode) : entry;
}
