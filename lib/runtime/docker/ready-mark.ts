import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'docker-ready';

/**
 * Notes that ready sandboxes of this runtime may exist. No record names them, so that the next server would not use this runtime,
 * and thus not remove what a killed server left of them, before it is asked for such a sandbox.
 */
export function markReady(stateDir: string): void {
  const path = join(stateDir, FILE);
  if (!existsSync(path)) writeFileSync(path, '', { mode: 0o600 });
}

/** None exists any more. */
export function unmarkReady(stateDir: string): void {
  rmSync(join(stateDir, FILE), { force: true });
}

export const isMarkedReady = (stateDir: string): boolean => existsSync(join(stateDir, FILE));
