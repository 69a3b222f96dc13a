import { closeSync } from 'node:fs';

/** Closes a descriptor and ignores errors: close(2) closes it in any case. */
export function closeQuietly(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // An error could only concern the writing of earlier data; data that must be durable was synced before.
  }
}
