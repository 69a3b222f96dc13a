import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../linux/errno.ts';

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;

/** Another process holds the lock. */
export class LockedError extends Error {}

/**
 * Takes the exclusive lock on `path` (created if absent, with its directory; never removed). Returns the function that
 * releases it. It is a flock(2) lock on the open file, which the kernel releases when this process ends in any way;
 * flock(1), which takes it, only shares our descriptor. Throws an Error of one line; a LockedError if another server
 * holds it.
 */
export function takeLock(path: string): () => void {
  return lockOpen(openLock(path, O_RDWR | O_CREAT), path);
}

/**
 * Like `takeLock`, without creating anything: returns undefined if there is no lock file because no server has run yet.
 */
export function takeExistingLock(path: string): (() => void) | undefined {
  if (!existsSync(path)) return undefined;
  return lockOpen(openLock(path, O_RDONLY), path);
}

function openLock(path: string, flags: number): number {
  try {
    return openSync(path, flags | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw new Error(`the lock ${path} cannot be opened: ${errorCode(error)}`, { cause: error });
  }
}

function lockOpen(fd: number, path: string): () => void {
  // Closed on exec in children (Node opens with O_CLOEXEC), so that none of them can keep the lock after this process.
  const { status, error } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd], env: {} });
  if (status === 0) return () => closeSync(fd);
  closeSync(fd);
  if (error) throw new Error(`flock (of util-linux) cannot be run: ${errorCode(error)}`);
  throw new LockedError(`another server runs on this state: ${path} is locked`);
}

/** Creates a directory of the server if absent; missing parents become traversable but not listable. */
export function makeFolder(path: string, key: string, mode: number): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    throw new Error(`${key}: ${path} cannot be made: ${errorCode(error)}`, { cause: error });
  }
}
