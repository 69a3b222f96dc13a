import { rmSync } from 'node:fs';

/** Remaining files are removed at the server's next start. */
export function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {}
}
