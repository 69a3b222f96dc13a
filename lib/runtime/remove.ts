import { readdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Remaining files are removed at the server's next start. */
export function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}

/**
 * As `remove`, for a directory in which nobody else makes or renames anything: without the attempt on each directory that is
 * not empty, and without asking the kind of each entry again.
 */
export function removeDirectory(path: string): void {
  try {
    removeEntries(path);
    rmdirSync(path);
  } catch {
    remove(path);
  }
}

function removeEntries(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const below = join(path, entry.name);
    if (entry.isDirectory()) {
      removeEntries(below);
      rmdirSync(below);
    } else {
      unlinkSync(below);
    }
  }
}
