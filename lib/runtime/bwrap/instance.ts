import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { Shares } from '../../shares.ts';
import { FifoPool } from '../executor/fifo-pool.ts';
import { newScratch } from '../executor/pipe-reader.ts';
import { newReadPaces, type ReadPaces } from '../executor/read-pace.ts';
import { filterFor } from '../seccomp/assemble.ts';
import type { SystemView } from './arguments.ts';
import { writeEtc } from './etc.ts';
import { systemView } from './system.ts';

const run = promisify(execFile);
const RUNTIME_DIRECTORY = '/run/paddock';
/** Agent directories and long requests: little, and bounded. */
export const TMPFS_OPTIONS = 'nosuid,nodev,noexec,mode=0711,size=256m';
/** Of it, what long requests may take: the rest is for what sandboxes need to come up. */
export const REQUEST_BYTES = 192 * 1024 * 1024;

/** The same for the same state directory after a restart: what a dead server left is found by it. */
export const instanceName = (stateDir: string): string =>
  createHash('sha256').update(stateDir).digest('hex').slice(0, 16);

/** What all sandboxes of one server share. */
export interface Instance {
  /** Parent of the agent directories. */
  dir: string;
  view: SystemView;
  seccompFile: string;
  fifos: FifoPool;
  scratch: Buffer;
  paces: ReadPaces;
  /** Bytes of long requests on the file system of `dir`. */
  room: Shares<object>;
}

/**
 * A file system of its own for the agent directories and /etc: what a sandbox reads of its mounts then names no host
 * path (a bind shows the path within its file system). An ordinary user cannot mount and gets a plain directory.
 */
export function instanceDir(stateDir: string, root: boolean): string {
  return root ? join(RUNTIME_DIRECTORY, `agents-${instanceName(stateDir)}`) : join(stateDir, 'agents');
}

/** `dir` must be clear (see clearInstance). */
export async function openInstance(
  dir: string,
  root: boolean,
  { readOnlyPaths, lacking }: Pick<SystemView, 'readOnlyPaths' | 'lacking'>,
): Promise<Instance> {
  const program = filterFor(process.arch);
  if (!program) throw new ServiceError('FAILED_PRECONDITION', `bwrap runtime: no seccomp filter for ${process.arch}`);
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  if (root) await run('mount', ['-t', 'tmpfs', '-o', TMPFS_OPTIONS, 'agent', dir], { cwd: '/' });
  writeEtc(join(dir, 'etc'));
  const seccompFile = join(dir, 'seccomp');
  writeFileSync(seccompFile, program, { mode: 0o600 });
  return {
    dir,
    view: { ...systemView(join(dir, 'etc'), readOnlyPaths), ...(lacking && { lacking }) },
    seccompFile,
    fifos: new FifoPool(join(dir, 'fifos')),
    scratch: newScratch(),
    paces: newReadPaces(),
    room: new Shares(REQUEST_BYTES),
  };
}

/** Takes the instance's directory away, with all mounts that a dead server left on it. */
export async function clearInstance(dir: string): Promise<void> {
  while (isMountPoint(dir)) await run('umount', ['-l', dir], { cwd: '/' });
  rmSync(dir, { recursive: true, force: true });
}

function isMountPoint(dir: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .some((line) => line.split(' ')[4] === dir);
}
