import { closeSync } from 'node:fs';

/** For a close that must not fail what it follows. The descriptor is closed also where close(2) reports an error. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // Whatever must be on the disk was synced before.
  }
}
