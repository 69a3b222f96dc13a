import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What lies under storage.mount_path. A sandbox's uid passes through `mount_path`, `fs` and `run` (0711: no listing)
 * to what is its own; `deltas` is the server's alone.
 */
export interface Layout {
  /** Where the workspace file system is mounted. */
  fs: string;
  deltas: string;
  run: string;
}

export function layoutOf(mountPath: string): Layout {
  return { fs: join(mountPath, 'fs'), deltas: join(mountPath, 'deltas'), run: join(mountPath, 'run') };
}

/** `fs` is left to who mounts there: after a crash a dead mount may lie on it, which even stat cannot pass. */
export function makeLayout(mountPath: string): Layout {
  const layout = layoutOf(mountPath);
  makeDirectory(mountPath, 0o711);
  makeDirectory(layout.deltas, 0o700);
  makeDirectory(layout.run, 0o711);
  return layout;
}

function makeDirectory(path: string, mode: number): void {
  mkdirSync(path, { recursive: true });
  // mkdir's mode is under the umask.
  chmodSync(path, mode);
}
