import { chmod, lstat, lutimes, mkdir, open, rename, rm, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { give, giveAt, type Owner, ownerOf } from '../../../typescript/src/local/owner.ts';
import { openParent, type Parent } from '../../../typescript/src/local/parent.ts';
import type { Refusal } from '../../../typescript/src/local/refusal.ts';
import { temporaryName } from '../../../typescript/src/local/temporary.ts';
import type { Member } from '../../../typescript/src/local/untar.ts';
import { CliError } from '../errors.ts';
import { type Copied, nothing } from './copied.ts';

type Entry = Pick<Member, 'mode' | 'mtimeMs'>;

/** A directory that is written to. Its `path` is for this process; `shown` is that by which people know it. */
type Target = Pick<Parent, 'path'> & { shown: string };

/**
 * Writes the members of an archive below a local directory. The threat: a sandbox chooses their names, and may name one
 * below a symlink that it has sent before, or that is here already. So each directory on the way must be one, and nothing
 * is followed: a file is written under a name of its own, and takes the place of what was there. Another user who may
 * write here exchanges a directory for a symlink meanwhile: so all is done in the directory that was opened.
 */
export class Extraction {
  readonly #root: Target;
  readonly #refusal: (path: string, type: Member['type']) => Promise<Refusal | undefined>;
  readonly #leftOut: ({ path: string } & Refusal)[] = [];
  readonly #copied = nothing();
  /** Directories that were made or found. */
  readonly #known = new Set<string>();
  readonly #directories = new Map<string, Entry>();
  /** The directory of the last member. */
  #last: { path: string; parent: Parent } | undefined;

  /** `refusal`: why a member is left out. */
  constructor(root: Target, refusal: (path: string, type: Member['type']) => Promise<Refusal | undefined>) {
    this.#root = root;
    this.#refusal = refusal;
  }

  async add({ path, type, mode, mtimeMs, target, content }: Member): Promise<void> {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))) {
      throw new CliError(`the archive has a path that leads elsewhere: ${JSON.stringify(path)}`);
    }
    const refusal = await this.#refusal(path, type);
    if (refusal) {
      this.#leftOut.push({ path, ...refusal });
      return;
    }
    const parents = type === 'directory' ? parts : parts.slice(0, -1);
    const parent = await this.#enter(parents);
    if (type === 'directory') {
      this.#directories.set(path, { mode, mtimeMs });
      this.#copied.directories++;
      return;
    }
    const place = { parent, name: parts.at(-1)!, shown: join(this.#root.shown, path) };
    if (type === 'symlink') {
      await link(target, place, mtimeMs);
      this.#copied.symlinks++;
    } else {
      this.#copied.bytes += await writeFile(place, content, { mode, mtimeMs });
      this.#copied.files++;
    }
  }

  /** Modes and times of directories, which what is written into them would change, or forbid. */
  async end(): Promise<Copied> {
    for (const [path, { mode, mtimeMs }] of [...this.#directories].reverse()) {
      const directory = await this.#opened(path.split('/'));
      await chmod(directory.path, mode);
      await utimes(directory.path, mtimeMs / 1000, mtimeMs / 1000);
    }
    return { ...this.#copied, ...(this.#leftOut.length > 0 && { leftOut: this.#leftOut }) };
  }

  /** To be called at last, also after an error. */
  async close(): Promise<void> {
    const last = this.#last;
    this.#last = undefined;
    await last?.parent.close();
  }

  /** Makes what is missing. */
  async #enter(parts: readonly string[]): Promise<Parent> {
    for (let depth = 1; depth <= parts.length; depth++) {
      const path = parts.slice(0, depth).join('/');
      if (this.#known.has(path)) continue;
      const isNew = await makeDirectory(await this.#opened(parts.slice(0, depth - 1)), parts[depth - 1]!);
      if (isNew) this.#directories.set(path, { mode: 0o777 & ~process.umask(), mtimeMs: Date.now() });
      this.#known.add(path);
    }
    return this.#opened(parts);
  }

  async #opened(parts: readonly string[]): Promise<Parent> {
    const path = parts.join('/');
    if (this.#last?.path === path) return this.#last.parent;
    await this.close();
    const parent = await opened(this.#root, parts);
    this.#last = { path, parent };
    return parent;
  }
}

/** Opens a directory below one, no part of the way to which may be a symlink. */
export async function opened(root: Target, parts: readonly string[]): Promise<Parent> {
  const shown = join(root.shown, ...parts);
  try {
    const parent = await openParent(root.path, parts);
    if (parent) return parent;
  } catch (error) {
    if (!['ENOTDIR', 'ELOOP'].includes(String((error as { code?: unknown }).code))) throw error;
  }
  const found = await lstat(join(root.path, ...parts)).catch(() => undefined);
  if (found === undefined) throw new CliError(`there is no directory ${shown} any more`);
  throw new CliError(`${shown} is not a directory${found.isSymbolicLink() ? ', but a symbolic link' : ''}`);
}

/** A name in a directory that is held. */
interface Place {
  parent: Parent;
  name: string;
  shown: string;
}

/** Writes a file beside the place and renames it. Returns its bytes. */
export async function writeFile(
  place: Place,
  content: AsyncIterable<Uint8Array>,
  { mode, mtimeMs }: { mode: number; mtimeMs: number },
): Promise<number> {
  await refuseOther(place);
  const temporary = temporaryIn(place.parent);
  let bytes = 0;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      for await (const piece of content) {
        await handle.writeFile(piece);
        bytes += piece.length;
      }
      await give(handle, await ownerAt(place));
      await handle.chmod(mode & 0o777);
      await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
    } finally {
      await handle.close();
    }
    await rename(temporary, pathOf(place));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return bytes;
}

export async function link(target: string, place: Place, mtimeMs: number): Promise<void> {
  await refuseOther(place);
  const temporary = temporaryIn(place.parent);
  await symlink(target, temporary);
  try {
    await giveAt(temporary, await ownerAt(place));
    await lutimes(temporary, mtimeMs / 1000, mtimeMs / 1000);
    await rename(temporary, pathOf(place));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** For this user, until what is in it has arrived. False: something is there. */
export async function makeDirectory(parent: Parent, name: string): Promise<boolean> {
  const path = join(parent.path, name);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return false;
    throw error;
  }
  await giveAt(path, ownerOf(undefined, await parent.stat()));
  return true;
}

const pathOf = ({ parent, name }: Place): string => join(parent.path, name);

async function ownerAt(place: Place): Promise<Owner | undefined> {
  const found = await lstat(pathOf(place), { bigint: true }).catch(() => undefined);
  return ownerOf(found, await place.parent.stat());
}

/** Of what is there, only files and symlinks are replaced: not /dev/null, for example. */
async function refuseOther(place: Place): Promise<void> {
  const found = await lstat(pathOf(place)).catch(() => undefined);
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return;
  const kind = found.isDirectory() ? 'a directory' : 'a device or the like';
  throw new CliError(`${place.shown} is ${kind}, and would be replaced by something else`);
}

/** A short name: that of the path may be as long as a name can be. */
const temporaryIn = (parent: Parent): string => join(parent.path, temporaryName());
