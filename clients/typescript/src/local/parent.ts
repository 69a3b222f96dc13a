import { type BigIntStats, constants } from 'node:fs';
import { access, type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { giveAt, ownerOf } from './owner.ts';

/** The directory that a path is in. */
export interface Parent {
  /** Names below it are reached by this path. */
  path: string;
  stat(): Promise<BigIntStats>;
  close(): Promise<void>;
}

/**
 * Opens the directory at `parts` below `root`, no part of which may be a symlink; undefined: it is missing. With `make` it
 * is created, for the owner of the one above it. Throws ENOTDIR or ELOOP if something else is there. The threat: another
 * user who may write to a directory on the way exchanges it for a symlink after it was looked at. On Linux the directory
 * is held open, so what is done below it is done in the one that was checked.
 */
export function openParent(root: string, parts: readonly string[], { make = false } = {}): Promise<Parent | undefined> {
  canHold ??= canReach(HELD);
  return canHold.then((yes) => (yes ? held(root, parts, make) : looked(root, parts, make)));
}

const HELD = '/proc/self/fd';
let canHold: Promise<boolean> | undefined;
const canReach = (path: string): Promise<boolean> =>
  access(path).then(
    () => process.platform === 'linux',
    () => false,
  );

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
const below = ({ fd }: FileHandle): string => `${HELD}/${fd}`;

async function held(root: string, parts: readonly string[], make: boolean): Promise<Parent | undefined> {
  let at = await open(root, O_RDONLY | O_DIRECTORY);
  for (const part of parts) {
    const above = at;
    try {
      const path = join(below(above), part);
      if (make) await made(path, await above.stat({ bigint: true }));
      at = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      if (!isMissing(error)) throw error;
      return undefined;
    } finally {
      await above.close();
    }
  }
  const handle = at;
  return {
    path: below(handle),
    stat: () => handle.stat({ bigint: true }),
    close: () => handle.close(),
  };
}

/** Where a directory cannot be held open. */
async function looked(root: string, parts: readonly string[], make: boolean): Promise<Parent | undefined> {
  let path = root;
  for (const part of parts) {
    const above = path;
    path = join(path, part);
    if (make) await made(path, await lstat(above, { bigint: true }));
    const found = await lstat(path).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (found === undefined) return undefined;
    if (!found.isDirectory())
      throw Object.assign(new Error('ENOTDIR: not a directory, open'), { code: 'ENOTDIR', syscall: 'open' });
  }
  return { path, stat: () => lstat(path, { bigint: true }), close: async () => undefined };
}

async function made(path: string, above: BigIntStats): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'EEXIST') return;
    throw error;
  }
  await giveAt(path, ownerOf(undefined, above));
}

const isMissing = (error: unknown): boolean => (error as { code?: unknown }).code === 'ENOENT';

export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** The error without the path by which the directory is reached here, which is of no use to anybody. */
export function shown(error: Error): Error {
  error.message = error.message.replace(/ '\/proc\/self\/fd\/.*$/s, '');
  return error;
}
