import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Parent of the directories that hold a server's agent files. */
export const RUNTIME_DIRECTORY = '/run/paddock';
/** Agent directories and long requests: little, and bounded. */
const OPTIONS = 'nosuid,nodev,noexec,mode=0711,size=256m';
/** Bytes of it that long requests may take: the rest is for what sandboxes need to come up. */
export const REQUEST_BYTES = 192 * 1024 * 1024;

/**
 * Mounts a file system of its own for the agent files: what a sandbox reads of its mounts then names no host path (a
 * bind shows the path within its file system). Needs root. `unmountAgentFiles` removes it.
 */
export async function mountAgentFiles(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o711 });
  await run('mount', ['-t', 'tmpfs', '-o', OPTIONS, 'agent', directory], { cwd: '/' });
}

/** Removes the directory with every mount on it, those of a dead server included. No sandbox may be up. */
export async function unmountAgentFiles(directory: string): Promise<void> {
  while (isMountPoint(directory)) await run('umount', ['-l', directory], { cwd: '/' });
  rmSync(directory, { recursive: true, force: true });
}

function isMountPoint(directory: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === directory);
}
