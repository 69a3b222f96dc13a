import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Log } from '../log.ts';

/**
 * Where the parts of a server's sandboxes lie. A sandbox's uid passes through `fs` and `run` (0711: no listing) to what
 * is its own; `deltas` is the server's alone.
 */
export interface Layout {
  /** Where the workspace file system is mounted. */
  fs: string;
  deltas: string;
  run: string;
}

const RUNTIME_DIRECTORY = '/run/paddock';

/**
 * All under `mountPath`, except where a folder above it is closed to others, as a home or a temporary one often is: no
 * sandbox's uid could get to its workspace there. Then `fs` and `run`, which hold nothing that lasts, are in the
 * system's runtime directory. Only root needs and can do that: for any other server, sandboxes have its own uid.
 * `fs` itself is left to who mounts there: after a crash a dead mount may lie on it, which even stat cannot pass.
 */
export function makeLayout(mountPath: string, log: Log, runtimeDirectory = RUNTIME_DIRECTORY): Layout {
  makeDirectory(mountPath, 0o711);
  const deltas = join(mountPath, 'deltas');
  makeDirectory(deltas, 0o700);
  const passable = passableBase(mountPath, log, runtimeDirectory);
  const run = join(passable, 'run');
  makeDirectory(run, 0o711);
  return { fs: join(passable, 'fs'), deltas, run };
}

/** Gives back what is empty of the runtime directory. */
export function leaveLayout({ fs, deltas }: Layout): void {
  const base = dirname(fs);
  if (base === dirname(deltas)) return;
  for (const directory of [fs, join(base, 'run'), base]) {
    try {
      rmdirSync(directory);
    } catch {
      // Not there, or not empty: the next start uses it again.
    }
  }
}

function passableBase(mountPath: string, log: Log, runtimeDirectory: string): string {
  const closed = closedAncestor(mountPath);
  if (closed === undefined || process.getuid?.() !== 0) return mountPath;
  const name = createHash('sha256').update(mountPath).digest('hex').slice(0, 16);
  const aside = join(runtimeDirectory, name);
  try {
    makeDirectory(runtimeDirectory, 0o711);
    makeDirectory(aside, 0o711);
  } catch (err) {
    log.warn('sandboxes may not get to their workspaces: a folder above is closed to other users', { closed, err });
    return mountPath;
  }
  log.info(
    'workspaces are mounted in the runtime directory: a folder above storage.mount_path is closed to other users',
    {
      closed,
      path: aside,
    },
  );
  return aside;
}

function closedAncestor(path: string): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function makeDirectory(path: string, mode: number): void {
  mkdirSync(path, { recursive: true, mode: 0o711 });
  // mkdir's mode is under the umask.
  chmodSync(path, mode);
}
