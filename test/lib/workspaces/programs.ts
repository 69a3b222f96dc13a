import { constants } from 'node:os';
import { fromLatin1 } from '../../../lib/byte-string.ts';
import type { Attr, Caller, Entry, SetAttr } from '../../../lib/fuse/filesystem.ts';
import { Errno } from '../../../lib/linux/errno.ts';
import type { WorkspaceFileSystem } from '../../../lib/workspaces/workspace-file-system.ts';

const ROOT = 1;

/** Sends the requests of one sandbox's programs, by paths, like a kernel without caches. */
export abstract class Programs {
  abstract readonly fs: WorkspaceFileSystem;
  abstract readonly workspaceId: string;
  abstract readonly caller: Caller;
  protected readonly lookups = new Map<number, number>();

  /** Forgets all nodes, like a kernel that is short of memory. */
  forgetAll(): void {
    for (const [nodeid, nlookup] of this.lookups) this.fs.forget(nodeid, nlookup);
    this.lookups.clear();
  }

  /** Returns the nodeid of a path by a lookup of every component. '' is the root of the workspace. */
  id(path: string): number {
    const entry = this.lookup(path);
    if (entry === undefined) throw new Errno(2);
    return entry.nodeid;
  }

  lookup(path: string): Entry | undefined {
    let entry = this.count(this.fs.lookup(this.caller, ROOT, fromLatin1(this.workspaceId)));
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (entry === undefined) throw new Errno(2);
      entry = this.count(this.fs.lookup(this.caller, entry.nodeid, fromLatin1(name)));
    }
    return entry;
  }

  stat(path: string): Attr {
    return this.fs.getattr(this.caller, this.id(path));
  }

  exists(path: string): boolean {
    return this.lookup(path) !== undefined;
  }

  create(path: string, content = '', mode = 0o644): Entry {
    const { dir, name } = this.#split(path);
    const entry = this.count(this.fs.create(this.caller, dir, fromLatin1(name), mode, 0o302));
    if (content !== '') this.fs.write(this.caller, entry.nodeid, 0, Buffer.from(content), false);
    return entry;
  }

  write(path: string, content: string, offset = 0): void {
    this.fs.write(this.caller, this.id(path), offset, Buffer.from(content), false);
  }

  read(path: string): string {
    return this.readId(this.id(path));
  }

  readId(id: number): string {
    const into = Buffer.alloc(1 << 17);
    return into.toString('utf8', 0, this.fs.read(this.caller, id, 0, into));
  }

  set(path: string, changes: SetAttr): Attr {
    return this.fs.setattr(this.caller, this.id(path), changes);
  }

  mkdir(path: string, mode = 0o755): Entry {
    const { dir, name } = this.#split(path);
    return this.count(this.fs.mkdir(this.caller, dir, fromLatin1(name), mode));
  }

  mkfifo(path: string): Entry {
    const { dir, name } = this.#split(path);
    return this.count(this.fs.mknod(this.caller, dir, fromLatin1(name), 0o010644, 0));
  }

  symlink(target: string, path: string): Entry {
    const { dir, name } = this.#split(path);
    return this.count(this.fs.symlink(this.caller, dir, fromLatin1(name), Buffer.from(target)));
  }

  readlink(path: string): string {
    return this.fs.readlink(this.caller, this.id(path)).toString();
  }

  link(from: string, to: string): Entry {
    const id = this.id(from);
    const { dir, name } = this.#split(to);
    return this.count(this.fs.link(this.caller, id, dir, fromLatin1(name)));
  }

  unlink(path: string): void {
    const { dir, name } = this.#split(path);
    this.fs.unlink(this.caller, dir, fromLatin1(name));
  }

  rmdir(path: string): void {
    const { dir, name } = this.#split(path);
    this.fs.rmdir(this.caller, dir, fromLatin1(name));
  }

  rename(from: string, to: string, flags = 0): void {
    const source = this.#split(from);
    const target = this.#split(to);
    this.fs.rename(this.caller, source.dir, fromLatin1(source.name), target.dir, fromLatin1(target.name), flags);
  }

  /** Returns the sorted names of a directory, without "." and "..". */
  list(path: string): string[] {
    return this.listId(this.id(path)).sort();
  }

  listId(id: number, plus = true): string[] {
    const names: string[] = [];
    this.fs.readdir(this.caller, id, 0, plus, (name, _cookie, _ino, _type, entry) => {
      this.count(entry);
      names.push(name);
      return true;
    });
    return names.filter((name) => name !== '.' && name !== '..');
  }

  /** Returns every path with its type and content, to compare two trees. */
  tree(path = ''): Record<string, string> {
    const all: Record<string, string> = {};
    for (const name of this.list(path)) {
      const at = path === '' ? name : `${path}/${name}`;
      const type = this.stat(at).mode & 0o170000;
      if (type === 0o040000) Object.assign(all, { [`${at}/`]: '' }, this.tree(at));
      else if (type === 0o120000) all[at] = `-> ${this.readlink(at)}`;
      else all[at] = type === 0o100000 ? this.read(at) : type.toString(8);
    }
    return all;
  }

  protected count<T extends Entry | undefined>(entry: T): T {
    if (entry !== undefined) this.lookups.set(entry.nodeid, (this.lookups.get(entry.nodeid) ?? 0) + 1);
    return entry;
  }

  #split(path: string): { dir: number; name: string } {
    const slash = path.lastIndexOf('/');
    const dir = this.lookup(slash === -1 ? '' : path.slice(0, slash));
    if (dir === undefined) throw new Errno(constants.errno.ENOENT);
    // The kernel sends no request to create an entry in a non-directory.
    if ((dir.attr.mode & 0o170000) !== 0o040000) throw new Errno(constants.errno.ENOTDIR);
    return { dir: dir.nodeid, name: path.slice(slash + 1) };
  }
}

/** Returns the name of the errno of a failing call; 'ok' if it succeeds. */
export function outcome(call: () => unknown): string {
  try {
    call();
    return 'ok';
  } catch (error) {
    if (error instanceof Errno) return ERRNO[error.errno] ?? String(error.errno);
    throw error;
  }
}

const ERRNO: Record<number, string> = {
  1: 'EPERM',
  2: 'ENOENT',
  5: 'EIO',
  13: 'EACCES',
  17: 'EEXIST',
  20: 'ENOTDIR',
  21: 'EISDIR',
  22: 'EINVAL',
  27: 'EFBIG',
  28: 'ENOSPC',
  36: 'ENAMETOOLONG',
  39: 'ENOTEMPTY',
  116: 'ESTALE',
  122: 'EDQUOT',
};
