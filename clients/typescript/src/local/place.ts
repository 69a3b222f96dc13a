import {
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  lstatSync,
  lutimesSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { bytesOf, type Found, versionOf } from './found.ts';
import { codeOf, give, giveAt, type Owner, ownerOf } from './owner.ts';
import { temporaryName } from './temporary.ts';
import { type Directory, identityOf, type Tree } from './tree.ts';

type Type = NonNullable<Found>['type'];

/** What was at a path, and a mark that changes with it. */
export interface Look {
  found: Found;
  mark: string;
}

/** What a file gets. `mode`: exactly these permission bits, instead of those that it has here. */
export interface Given {
  executable?: boolean | undefined;
  mode?: number | undefined;
  mtimeMs?: number | undefined;
}

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A path of a local directory, whose own directory is held. Calls are synchronous: others take five times as long. */
export class Place {
  readonly path: string;
  readonly #tree: Tree;
  readonly #above: readonly string[];
  readonly #name: string;
  /** undefined: missing. */
  #directory: Directory | undefined;

  private constructor(tree: Tree, path: string) {
    const names = path.split('/');
    this.path = path;
    this.#name = names.pop()!;
    this.#above = names;
    this.#tree = tree;
    this.#directory = tree.open(names);
  }

  /** undefined: something on the way is no directory, but a symlink or a file. */
  static async use<T>(tree: Tree, path: string, use: (place: Place) => T | Promise<T>): Promise<T | undefined> {
    let place: Place;
    try {
      place = new Place(tree, path);
    } catch (error) {
      if (isElsewhere(error)) return undefined;
      throw error;
    }
    try {
      return await use(place);
    } finally {
      place.#directory?.close();
    }
  }

  #stat(): BigIntStats | undefined {
    return this.#directory && lstatSync(this.#directory.at(this.#name), { bigint: true, throwIfNoEntry: false });
  }

  /** Makes the directories above, if they are missing. */
  #made(): Directory {
    this.#directory ??= this.#tree.open(this.#above, { make: true })!;
    return this.#directory;
  }

  #at(): string {
    return this.#made().at(this.#name);
  }

  async look(): Promise<Look> {
    const stat = this.#stat();
    const mark = markOf(stat);
    const type = typeOf(stat);
    if (stat === undefined || type === undefined) return { found: undefined, mark };
    if (type === 'symlink') return { found: { type, target: readlinkSync(this.#at()) }, mark };
    if (type !== 'file') return { found: { type }, mark };
    return { found: { type, version: await versionOf(this.read()), executable: isExecutable(stat) }, mark };
  }

  /** The contents. Does not wait for the writer of a FIFO that has taken the place of a file. */
  async *read(): AsyncGenerator<Uint8Array, void, void> {
    const fd = openSync(this.#at(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      yield* bytesOf(fd);
    } finally {
      closeSync(fd);
    }
  }

  /** Whether nothing changed here since: neither this path nor the way to it. */
  isStill({ mark }: Look): boolean {
    return this.isReached() && markOf(this.#stat()) === mark;
  }

  /** Whether the way still leads to the directory that is held, or to none. */
  isReached(): boolean {
    return this.#tree.leadsTo(this.#above, this.#directory);
  }

  type(): Type | undefined {
    return typeOf(this.#stat());
  }

  identity(): string | undefined {
    const stat = this.#stat();
    return stat && identityOf(stat);
  }

  /** What is in the directory here. */
  names(): string[] {
    return readdirSync(this.#at());
  }

  /** Puts a file here if `mayReplace` agrees once its contents have arrived. Returns whether. */
  async write(
    content: AsyncIterable<Uint8Array>,
    given: Given,
    mayReplace: (version: string, size: number) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const temporary = this.#made().at(temporaryName());
    const fd = openSync(temporary, 'wx', 0o600);
    let [size, isPut] = [0, false];
    try {
      const version = await versionOf(content, (piece) => {
        writeFileSync(fd, piece);
        size += piece.length;
      });
      give(fd, this.#owner());
      fchmodSync(fd, given.mode ?? this.#mode(given.executable ?? false));
      if (!(await mayReplace(version, size))) return false;
      this.#put(temporary);
      isPut = true;
      if (given.mtimeMs !== undefined) futimesSync(fd, given.mtimeMs / 1000, given.mtimeMs / 1000);
      return true;
    } finally {
      closeSync(fd);
      if (!isPut) unlinkSync(temporary);
    }
  }

  link(target: string, mtimeMs?: number): void {
    const temporary = this.#made().at(temporaryName());
    symlinkSync(target, temporary);
    try {
      giveAt(temporary, this.#owner());
      this.#put(temporary);
    } catch (error) {
      unlinkSync(temporary);
      throw error;
    }
    if (mtimeMs !== undefined) lutimesSync(this.#at(), mtimeMs / 1000, mtimeMs / 1000);
  }

  /** At once, if there is no directory, which must be empty. */
  #put(temporary: string): void {
    if (this.#stat()?.isDirectory()) rmdirSync(this.#at());
    renameSync(temporary, this.#at());
  }

  /** A directory in the place of a file, symlink or nothing. */
  makeDirectory(mode?: number): void {
    const now = this.#stat();
    if (now?.isDirectory()) return;
    const owner = this.#owner();
    if (now) unlinkSync(this.#at());
    this.#made().make(this.#name, { mode, owner });
  }

  /** Removes a file, symlink or empty directory. */
  remove(): void {
    if (this.#stat()?.isDirectory()) rmdirSync(this.#at());
    else unlinkSync(this.#at());
  }

  #owner(): Owner | undefined {
    return ownerOf(this.#stat(), this.#made().stat());
  }

  /** Permission bits of the file that is replaced; other execute bits only if the new one differs in them. */
  #mode(executable: boolean): number {
    const now = this.#stat();
    const old = now?.isFile() ? Number(now.mode) & 0o777 : 0o666 & ~process.umask();
    if (((old & 0o100) !== 0) === executable) return old;
    const bits = old & 0o666;
    return executable ? bits | ((bits & 0o444) >> 2) : bits;
  }
}

function typeOf(stat: BigIntStats | undefined): Type | undefined {
  if (stat === undefined || stat.isFile()) return stat && 'file';
  return stat.isSymbolicLink() ? 'symlink' : stat.isDirectory() ? 'directory' : 'other';
}

const isExecutable = ({ mode }: BigIntStats): boolean => (Number(mode) & 0o100) !== 0;

/** A part of the path is no directory. */
const isElsewhere = (error: unknown): boolean => ['ENOTDIR', 'ELOOP'].includes(codeOf(error));

/** The times of a directory change with its entries. */
function markOf(stat: BigIntStats | undefined): string {
  if (stat === undefined) return '';
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stat;
  return stat.isDirectory() ? `${dev} ${ino}` : [dev, ino, mode, size, mtimeNs, ctimeNs].join(' ');
}
