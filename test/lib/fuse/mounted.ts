import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { unmountAll } from '../../../lib/fuse/connection/mount.ts';
import type { Log } from '../../../lib/log.ts';
import type { MountOptions } from '../../../lib/workspaces/mount-connection.ts';
import { mountWorkspaces, type Workspaces } from '../../../lib/workspaces/mount-workspaces.ts';
import type { WorkspaceSpec } from '../../../lib/workspaces/workspaces.ts';

const execute = promisify(execFile);

export interface Mounted {
  mountPoint: string;
  workspaces: Workspaces;
  /** Logged warnings and errors. */
  logged: string[];
  /** Unmounts, even if the test left open files. */
  remove(): Promise<void>;
}

/** Mounts the in-memory file system of worker-entry.ts. */
export async function mounted(entry: URL, options: Partial<MountOptions> = {}): Promise<Mounted> {
  const directory = await mkdtemp(join(tmpdir(), 'fuse-test-'));
  const mountPoint = join(directory, 'mnt');
  const logged: string[] = [];
  const note = (message: string, fields = {}) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug() {}, info() {}, warn: note, error: note };
  const mounting = mountWorkspaces({ mountPoint, entry, log, ...options });
  mounting.catch(() => rm(directory, { recursive: true }));
  const workspaces = await mounting;
  return {
    mountPoint,
    workspaces,
    logged,
    async remove() {
      await workspaces.close();
      await unmountAll(mountPoint);
      await rm(directory, { recursive: true });
    },
  };
}

export function spec(id: string): WorkspaceSpec {
  return { id, codebaseId: 'cb', base: '', delta: '', uid: 0, rules: [], maxBytes: 0, maxFiles: 0 };
}

/** Runs a script in a child process; the tests' own process must not touch the mount. Returns its stdout. */
export async function shell(script: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('/bin/sh', ['-c', script, 'sh', ...args], { cwd: '/', timeout: 60_000 });
  return stdout;
}
