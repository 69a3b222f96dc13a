import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { codeOf, giveAt, ownerOf } from './owner.ts';

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
const HELD = '/proc/self/fd';
const canHold = process.platform === 'linux' && existsSync(HELD);

/** A directory. On Linux it is held open, so what is done in it is done in the one that was opened. */
export class Directory {
  readonly path: string;
  readonly #fd: number | undefined;

  private constructor(path: string, fd?: number) {
    this.path = path;
    this.#fd = fd;
  }

  /** Throws ENOENT, and ENOTDIR or ELOOP if something else is there. */
  static open(path: string, flags = O_NOFOLLOW): Directory {
    if (canHold) {
      const fd = openSync(path, O_RDONLY | O_DIRECTORY | flags);
      return new Directory(`${HELD}/${fd}`, fd);
    }
    if (flags !== 0 && !lstatSync(path).isDirectory())
      throw Object.assign(new Error('ENOTDIR: not a directory, open'), { code: 'ENOTDIR', syscall: 'open' });
    return new Directory(path);
  }

  at(name: string): string {
    return join(this.path, name);
  }

  stat(): BigIntStats {
    return this.#fd === undefined ? statSync(this.path, { bigint: true }) : fstatSync(this.#fd, { bigint: true });
  }

  /** Where it is now, without symlinks: others may have moved it. undefined: nothing tells, or its path is too long. */
  now(): string | undefined {
    if (this.#fd === undefined) return undefined;
    try {
      return readlinkSync(this.path);
    } catch (error) {
      if (codeOf(error) === 'ENAMETOOLONG') return undefined;
      throw error;
    }
  }

  /** Unless there is something. */
  make(name: string, { mode = 0o777, owner = ownerOf(undefined, this.stat()) } = {}): void {
    try {
      mkdirSync(this.at(name), mode);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      throw error;
    }
    giveAt(this.at(name), owner);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** Of the way to the last directory so many are held: a path has up to 2,047. */
const MOST = 64;

/**
 * The directories below one, none of which is reached through a symlink. The threat: another user who may write to a
 * directory on the way exchanges it for a symlink after it was looked at. The way to the last one is kept, so that a path
 * beside it costs no more than its own part.
 */
export class Tree {
  readonly root: string;
  #names: string[] = [];
  /** The last of those above and of the names, and nothing else. */
  readonly #held: Directory[] = [];

  constructor(root: string) {
    this.root = root;
  }

  /**
   * Opens the directory; whoever asks closes it. undefined: it is missing. With `make` it is made, for the owner of the
   * one above it. Throws ENOTDIR or ELOOP if something else is on the way.
   */
  open(names: readonly string[], { make = false } = {}): Directory | undefined {
    const different = names.findIndex((name, at) => this.#names[at] !== name);
    this.#leave(canHold ? (different === -1 ? names.length : different) : 0);
    if (this.#held.length === 0) this.#held.push(Directory.open(this.root, 0));
    for (const name of names.slice(this.#names.length)) {
      const above = this.#held.at(-1)!;
      const found = entered(above, name) ?? (make ? made(above, name) : undefined);
      if (found === undefined) return undefined;
      this.#held.push(found);
      this.#names.push(name);
      if (this.#held.length > MOST) this.#held.shift()!.close();
    }
    return Directory.open(this.#held.at(-1)!.path, 0);
  }

  /** Whether the names still lead to the directory, or to none if there was none. */
  leadsTo(names: readonly string[], directory: Directory | undefined): boolean {
    const here = directory?.now();
    if (here !== undefined) return here === join(realpathSync.native(this.root), ...names);
    // What is held may have been moved.
    this.close();
    const found = this.open(names);
    try {
      if (found === undefined || directory === undefined) return found === directory;
      return identityOf(found.stat()) === identityOf(directory.stat());
    } finally {
      found?.close();
    }
  }

  /** Back to as many names. */
  #leave(count: number): void {
    for (; this.#names.length > count; this.#names.pop()) this.#held.pop()?.close();
    if (this.#held.length === 0) this.#names = [];
  }

  close(): void {
    this.#leave(0);
    this.#held.pop()?.close();
  }
}

function made(above: Directory, name: string): Directory {
  above.make(name);
  return Directory.open(above.at(name));
}

function entered(above: Directory, name: string): Directory | undefined {
  try {
    return Directory.open(above.at(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The same for two names of one file. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** The error without the path by which a directory is reached here, which is of no use to anybody. */
export function shown(error: Error): Error {
  error.message = error.message.replace(/ '\/proc\/self\/fd\/.*$/s, '');
  return error;
}
