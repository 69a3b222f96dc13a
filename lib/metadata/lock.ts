import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

const { O_CREAT, O_NOFOLLOW, O_RDONLY, O_RDWR } = constants;

/** Another process has the lock. */
export class LockedError extends Error {}

/**
 * Takes the one lock on `path` (made when absent, with its folder, never removed); returns what gives it back. The
 * lock is flock(2)'s on the open file, which the kernel gives back when this process ends, however it ends: the
 * flock(1) that takes it only shares our descriptor. Throws an Error of one line, a LockedError when
 * another server has it.
 */
export function takeLock(path: string): () => void {
  return lockOpen(openLock(path, O_RDWR | O_CREAT), path);
}

/** As `takeLock`, making nothing on the disk: undefined where no server has run yet, so that there is no lock. */
export function takeExistingLock(path: string): (() => void) | undefined {
  if (!existsSync(path)) return undefined;
  return lockOpen(openLock(path, O_RDONLY), path);
}

function openLock(path: string, flags: number): number {
  try {
    return openSync(path, flags | O_NOFOLLOW, 0o600);
  } catch (error) {
    throw new Error(`the lock ${path} cannot be opened: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}

function lockOpen(fd: number, path: string): () => void {
  // Children close it on exec (Node opens with O_CLOEXEC): none of them can keep the lock after us.
  const { status, error } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', fd], env: {} });
  if (status === 0) return () => closeSync(fd);
  closeSync(fd);
  if (error) throw new Error(`flock (of util-linux) cannot be run: ${(error as NodeJS.ErrnoException).code}`);
  throw new LockedError(`another server runs on this state: ${path} is locked`);
}

/** Makes a folder of the server's own where there is none; missing ones above can be passed through, not listed. */
export function makeFolder(path: string, key: string, mode: number): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
    mkdirSync(path, { recursive: true, mode });
  } catch (error) {
    throw new Error(`${key}: ${path} cannot be made: ${(error as NodeJS.ErrnoException).code}`, { cause: error });
  }
}
