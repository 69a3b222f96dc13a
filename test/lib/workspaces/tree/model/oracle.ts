import { EEXIST, EINVAL, EISDIR, ENOENT, ENOTDIR, ENOTEMPTY, type Errno } from '../../../../../lib/linux/errno.ts';
import { TYPE } from '../../../../../lib/trees/format/entry.ts';
import type { HowToMove } from '../../../../../lib/workspaces/tree/changes/move.ts';
import type { Flat, Seen } from '../flat.ts';

type Inode = { -readonly [Key in keyof Seen]: Seen[Key] };

/** What the operations of a file system mean, on a map from paths to inodes. Answers with the error that one has. */
export class Oracle {
  #inodes = new Map<string, Inode>();

  constructor(flat: Flat) {
    this.reset(flat);
  }

  /** Names with the same number are names of one file if it has several. */
  reset(flat: Flat): void {
    const linked = new Map<number, Inode>();
    this.#inodes = new Map();
    for (const [path, seen] of flat) {
      const inode = (seen.nlink > 1 && linked.get(seen.ino)) || { ...seen };
      if (seen.nlink > 1) linked.set(seen.ino, inode);
      this.#inodes.set(path, inode);
    }
  }

  flat(): Map<string, Seen> {
    const names = new Map<Inode, number>();
    const below = new Map<string, number>();
    for (const [path, inode] of this.#inodes) {
      names.set(inode, (names.get(inode) ?? 0) + 1);
      if (path !== '') below.set(parentOf(path), (below.get(parentOf(path)) ?? 0) + 1);
    }
    const flat = new Map<string, Seen>();
    for (const [path, inode] of this.#inodes)
      flat.set(path, isDir(inode) ? { ...inode, size: below.get(path) ?? 0 } : { ...inode, nlink: names.get(inode)! });
    return flat;
  }

  get paths(): string[] {
    return [...this.#inodes.keys()];
  }

  at(path: string): Inode | undefined {
    return this.#inodes.get(path);
  }

  isDirectory(path: string): boolean {
    return isDir(this.at(path));
  }

  put(path: string, inode: Inode, time: number): Errno | undefined {
    if (this.isDirectory(path)) return EISDIR;
    this.#lose(path, time);
    this.#inodes.set(path, inode);
    this.#touch(path, time);
    return undefined;
  }

  drop(path: string, time: number): Errno | undefined {
    if (this.at(path) === undefined) return ENOENT;
    if (this.#below(path).length > 0) return ENOTEMPTY;
    this.#lose(path, time);
    this.#touch(path, time);
    return undefined;
  }

  link(path: string, to: string, time: number): Errno | undefined {
    const inode = this.at(path)!;
    if (this.at(to) !== undefined) return EEXIST;
    this.#inodes.set(to, inode);
    inode.ctime = time;
    this.#touch(to, time);
    return undefined;
  }

  move(from: string, to: string, how: HowToMove, time: number): Errno | undefined {
    const [a, b] = [this.at(from), this.at(to)];
    if (a === undefined) return ENOENT;
    if (how === 'noreplace' && b !== undefined) return EEXIST;
    if (how === 'exchange' && b === undefined) return ENOENT;
    if (to.startsWith(`${from}/`)) return EINVAL;
    if (how === 'exchange' && from.startsWith(`${to}/`)) return EINVAL;
    if (a === b) return undefined;
    const refused = how === 'exchange' || b === undefined ? undefined : this.#refuses(a, b, to);
    if (refused !== undefined) return refused;
    const [moved, other] = [this.#taken(from), this.#taken(to)];
    for (const [path, inode] of moved) this.#inodes.set(to + path, inode);
    if (how === 'exchange') for (const [path, inode] of other) this.#inodes.set(from + path, inode);
    a.ctime = time;
    if (b !== undefined) b.ctime = time;
    this.#touch(from, time);
    this.#touch(to, time);
    return undefined;
  }

  #refuses(a: Inode, b: Inode, to: string): Errno | undefined {
    if (isDir(a) && !isDir(b)) return ENOTDIR;
    if (!isDir(a) && isDir(b)) return EISDIR;
    return this.#below(to).length > 0 ? ENOTEMPTY : undefined;
  }

  #taken(path: string): [rest: string, inode: Inode][] {
    return [path, ...this.#below(path)].flatMap((each) => {
      const inode = this.at(each);
      this.#inodes.delete(each);
      return inode === undefined ? [] : [[each.slice(path.length), inode] as [string, Inode]];
    });
  }

  #below(path: string): string[] {
    return this.paths.filter((other) => other.startsWith(`${path}/`));
  }

  #lose(path: string, time: number): void {
    const inode = this.at(path);
    if (inode !== undefined) inode.ctime = time;
    this.#inodes.delete(path);
  }

  #touch(path: string, time: number): void {
    const parent = this.at(parentOf(path))!;
    parent.mtime = parent.ctime = time;
  }
}

function isDir(inode: Inode | undefined): boolean {
  return inode?.type === TYPE.directory;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
