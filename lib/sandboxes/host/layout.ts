import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where the parts of a server's sandboxes lie. */
export interface Layout {
  /** Where the workspace file system is mounted: sandboxes' uids pass through it, each to what is its own. */
  fs: string;
  /** The server's alone. */
  deltas: string;
  /** Contents of the deltas, which forks and checkpoints share. */
  layers: string;
  run: string;
}

const RUNTIME_DIRECTORY = '/run/paddock';

/**
 * All under `mountPath`, but for one case: where a folder above it is closed to others, as a home or a temporary one
 * often is, no sandbox's uid could get to its workspace, and the mount is in the system's runtime directory. Only root
 * needs and can do that: with any other server, sandboxes have its own uid. `fs` itself is left to who mounts there:
 * after a crash a dead mount may lie on it, which even stat cannot pass.
 */
export function makeLayout(mountPath: string, runtimeDirectory = RUNTIME_DIRECTORY): Layout {
  makeDirectory(mountPath, 0o711);
  const layout = foldersOf(mountPath);
  makeDirectory(layout.deltas, 0o700);
  makeDirectory(layout.layers, 0o700);
  makeDirectory(layout.run, 0o711);
  const [own, aside] = mountPoints(mountPath, runtimeDirectory);
  const needed = process.getuid?.() === 0 && isClosed(mountPath);
  return { ...layout, fs: needed && canMake(runtimeDirectory) ? aside : own };
}

/** What lies under `mountPath` in any case. */
export function foldersOf(mountPath: string): Omit<Layout, 'fs'> {
  return { deltas: join(mountPath, 'deltas'), layers: join(mountPath, 'layers'), run: join(mountPath, 'run') };
}

/** Where an earlier server on this state may have mounted: under `mountPath`, and in the runtime directory. */
export function mountPoints(mountPath: string, runtimeDirectory = RUNTIME_DIRECTORY): [own: string, aside: string] {
  const name = createHash('sha256').update(mountPath).digest('hex').slice(0, 16);
  return [join(mountPath, 'fs'), join(runtimeDirectory, `workspaces-${name}`)];
}

/** Takes an unused mount point out of the runtime directory. */
export function leaveLayout({ fs, deltas }: Layout): void {
  if (dirname(fs) === dirname(deltas)) return;
  try {
    rmdirSync(fs);
  } catch {
    // Not there, or still mounted: the next start uses it again.
  }
}

function isClosed(path: string): boolean {
  const others = (statSync(path).mode & 0o001) !== 0;
  return !others || (path !== dirname(path) && isClosed(dirname(path)));
}

/** Not so for the root of a user namespace. */
function canMake(path: string): boolean {
  try {
    makeDirectory(path, 0o711);
    return true;
  } catch {
    return false;
  }
}

function makeDirectory(path: string, mode: number): void {
  mkdirSync(path, { recursive: true, mode: 0o711 });
  // mkdir's mode is under the umask.
  chmodSync(path, mode);
}
