import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Host paths of a server's sandboxes. */
export interface Layout {
  /** Mount point of the workspace file system: sandboxes' uids can traverse it, each to its own workspace. */
  fs: string;
  /** Accessible to the server only. */
  deltas: string;
  /** Contents of the deltas, shared by forks and checkpoints. */
  layers: string;
  /** Empty: the base of every HOME. */
  homes: string;
  run: string;
  /** File systems of images: sandboxes' uids can traverse it. */
  images: string;
  /** Records and output of processes. Accessible to the server only. */
  processes: string;
}

const RUNTIME_DIRECTORY = '/run/paddock';

/**
 * Creates the directories under `mountPath`. If a parent is not accessible to other users, as is common for home and
 * temporary directories, sandboxes could not reach their workspaces, and the mount point is created in the system's
 * runtime directory instead. Only root needs that and can do it: with any other server, sandboxes have the server's
 * uid. `fs` itself is created by the mount: after a crash a dead mount may be on it, on which even stat(2) fails.
 */
export function makeLayout(mountPath: string, runtimeDirectory = RUNTIME_DIRECTORY): Layout {
  makeDirectory(mountPath, 0o711);
  const layout = foldersOf(mountPath);
  makeDirectory(layout.deltas, 0o700);
  makeDirectory(layout.layers, 0o700);
  makeDirectory(layout.homes, 0o700);
  makeDirectory(layout.images, 0o711);
  makeDirectory(layout.run, 0o711);
  makeDirectory(layout.processes, 0o700);
  const [own, aside] = mountPoints(mountPath, runtimeDirectory);
  const needed = process.getuid?.() === 0 && isClosed(mountPath);
  return { ...layout, fs: needed && canMake(runtimeDirectory) ? aside : own };
}

/** The directories that are always under `mountPath`. */
export function foldersOf(mountPath: string): Omit<Layout, 'fs'> {
  const at = (name: string) => join(mountPath, name);
  return {
    deltas: at('deltas'),
    layers: at('layers'),
    homes: at('homes'),
    images: at('images'),
    run: at('run'),
    processes: at('processes'),
  };
}

/** Host directory of the delta of a sandbox's HOME: in that of the sandbox, so that it is removed with it. */
export function homeDeltaOf(id: string, { deltas }: Pick<Layout, 'deltas'>): string {
  return join(deltas, id, 'home');
}

/** Mount points that an earlier server on this state may have used: under `mountPath`, and in the runtime directory. */
export function mountPoints(mountPath: string, runtimeDirectory = RUNTIME_DIRECTORY): [own: string, aside: string] {
  const name = createHash('sha256').update(mountPath).digest('hex').slice(0, 16);
  return [join(mountPath, 'fs'), join(runtimeDirectory, `workspaces-${name}`)];
}

/** Removes an unused mount point from the runtime directory. */
export function leaveLayout({ fs, deltas }: Layout): void {
  if (dirname(fs) === dirname(deltas)) return;
  try {
    rmdirSync(fs);
  } catch {
    // Missing or still mounted; the next start uses it again.
  }
}

function isClosed(path: string): boolean {
  const others = (statSync(path).mode & 0o001) !== 0;
  return !others || (path !== dirname(path) && isClosed(dirname(path)));
}

/** False for root of a user namespace. */
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
  // The mode given to mkdir is reduced by the umask.
  chmodSync(path, mode);
}
