import { randomUUID } from 'node:crypto';
import { chmod, lstat, lutimes, mkdir, open, rename, rm, stat, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Refusal } from '../../../typescript/src/local/home.ts';
import { give, giveAt, type Owner, ownerOf } from '../../../typescript/src/local/owner.ts';
import type { Member } from '../../../typescript/src/local/untar.ts';
import { CliError } from '../errors.ts';
import { type Copied, nothing } from './copied.ts';

type Entry = Pick<Member, 'mode' | 'mtimeMs'>;

/**
 * Writes the members of an archive below a local directory. The threat: a sandbox chooses their names, and may name one
 * below a symlink that it has sent before, or that is here already. So each directory on the way must be one, and nothing
 * is followed: a file is written under a name of its own, and takes the place of what was there.
 */
export class Extraction {
  readonly #root: string;
  readonly #refusal: (path: string, type: Member['type']) => Promise<Refusal | undefined>;
  readonly #leftOut: ({ path: string } & Refusal)[] = [];
  readonly #copied = nothing();
  /** Directories that were looked at. Nothing here replaces a directory by something else. */
  readonly #known = new Set<string>();
  readonly #directories = new Map<string, Entry>();

  /** `refusal`: why a member is left out. */
  constructor(root: string, refusal: (path: string, type: Member['type']) => Promise<Refusal | undefined>) {
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
    for (let depth = 1; depth <= parents.length; depth++) await this.#enter(parents.slice(0, depth).join('/'));
    if (type === 'directory') {
      this.#directories.set(path, { mode, mtimeMs });
      this.#copied.directories++;
      return;
    }
    const full = join(this.#root, path);
    if (type === 'symlink') {
      await link(target, full, mtimeMs);
      this.#copied.symlinks++;
    } else {
      this.#copied.bytes += await writeFile(full, content, { mode, mtimeMs });
      this.#copied.files++;
    }
  }

  /** Modes and times of directories, which what is written into them would change, or forbid. */
  async end(): Promise<Copied> {
    for (const [path, { mode, mtimeMs }] of [...this.#directories].reverse()) {
      await chmod(join(this.#root, path), mode);
      await utimes(join(this.#root, path), mtimeMs / 1000, mtimeMs / 1000);
    }
    return { ...this.#copied, ...(this.#leftOut.length > 0 && { leftOut: this.#leftOut }) };
  }

  async #enter(path: string): Promise<void> {
    if (this.#known.has(path)) return;
    const full = join(this.#root, path);
    const found = await lstat(full).catch(() => undefined);
    if (found === undefined) await makeDirectory(full);
    else if (!found.isDirectory()) {
      throw new CliError(`${full} is not a directory${found.isSymbolicLink() ? ', but a symbolic link' : ''}`);
    }
    if (found === undefined) this.#directories.set(path, { mode: 0o777 & ~process.umask(), mtimeMs: Date.now() });
    this.#known.add(path);
  }
}

/** Writes a file beside the path and renames it. Returns its bytes. */
export async function writeFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  { mode, mtimeMs }: { mode: number; mtimeMs: number },
): Promise<number> {
  await refuseOther(path);
  const temporary = temporaryOf(path);
  let bytes = 0;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      for await (const piece of content) {
        await handle.writeFile(piece);
        bytes += piece.length;
      }
      await give(handle, await ownerAt(path));
      await handle.chmod(mode & 0o777);
      await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return bytes;
}

export async function link(target: string, path: string, mtimeMs: number): Promise<void> {
  await refuseOther(path);
  const temporary = temporaryOf(path);
  await symlink(target, temporary);
  try {
    await giveAt(temporary, await ownerAt(path));
    await lutimes(temporary, mtimeMs / 1000, mtimeMs / 1000);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** For this user, until what is in it has arrived. */
export async function makeDirectory(path: string): Promise<void> {
  const owner = await ownerAt(path);
  await mkdir(path, { mode: 0o700 });
  await giveAt(path, owner);
}

async function ownerAt(path: string): Promise<Owner | undefined> {
  const found = await lstat(path, { bigint: true }).catch(() => undefined);
  return ownerOf(found, await stat(dirname(path), { bigint: true }));
}

/** Of what is there, only files and symlinks are replaced: not /dev/null, for example. */
async function refuseOther(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile() || found.isSymbolicLink()) return;
  const kind = found.isDirectory() ? 'a directory' : 'a device or the like';
  throw new CliError(`${path} is ${kind}, and would be replaced by something else`);
}

/** A short name: that of the path may be as long as a name can be. */
const temporaryOf = (path: string): string => join(dirname(path), `.${randomUUID().slice(0, 8)}.tmp`);
