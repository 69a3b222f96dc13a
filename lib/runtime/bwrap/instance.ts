import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '../../errors.ts';
import { Shares } from '../../shares.ts';
import { mountAgentFiles, REQUEST_BYTES, RUNTIME_DIRECTORY } from '../agent-mount.ts';
import { FifoPool, type GrowPipe, type MakeFifos } from '../executor/fifo-pool.ts';
import { newScratch } from '../executor/pipe-reader.ts';
import { newReadPaces, type ReadPaces } from '../executor/read-pace.ts';
import { filterFor } from '../seccomp/assemble.ts';
import { Machine } from '../shown/machine.ts';
import type { SystemView } from './arguments.ts';
import { writeEtc } from './etc.ts';
import { addPackageFiles } from './package-etc.ts';
import { linkCommands } from './shown-cgroups.ts';
import { systemView } from './system.ts';

/**
 * Name of the instance; the same after a restart on the same state directory, so that the remains of a dead server are
 * found.
 */
export const instanceName = (stateDir: string): string =>
  createHash('sha256').update(stateDir).digest('hex').slice(0, 16);

/** State shared by all sandboxes of one server. */
export interface Instance {
  /** Parent of the agent directories. */
  dir: string;
  view: SystemView;
  seccompFile: string;
  /** Whether /usr/bin/setsid of this machine, which sandboxes without an image see, has --fork. That of BusyBox has not. */
  setsidForks: boolean;
  fifos: FifoPool;
  scratch: Buffer;
  paces: ReadPaces;
  machine: Machine;
  /** See `linkCommands`. */
  commands: string;
  /** Budget in bytes of long requests on the file system of `dir`. */
  room: Shares<object>;
}

/**
 * Directory of the agent files and the /etc of this server's sandboxes. Without root, which mounting needs, a plain
 * directory in the state directory.
 */
export function instanceDir(stateDir: string, root: boolean): string {
  return root ? join(RUNTIME_DIRECTORY, `agents-${instanceName(stateDir)}`) : join(stateDir, 'agents');
}

/**
 * Creates the instance's files in `dir`, which must have been cleared with unmountAgentFiles; that also removes the
 * files created here.
 */
export async function openInstance(
  dir: string,
  root: boolean,
  {
    readOnlyPaths,
    lacking,
    tmpBytes,
    authorities,
    unified = false,
    makeFifos,
    growPipe,
  }: Pick<SystemView, 'readOnlyPaths' | 'lacking'> & {
    tmpBytes?: number | undefined;
    authorities?: string | undefined;
    /** Whether sandboxes see a cgroup of v2. */
    unified?: boolean;
    makeFifos?: MakeFifos;
    growPipe?: GrowPipe;
  },
): Promise<Instance> {
  const program = filterFor(process.arch);
  if (!program) throw new ServiceError('FAILED_PRECONDITION', `bwrap runtime: no seccomp filter for ${process.arch}`);
  if (root) await mountAgentFiles(dir);
  else mkdirSync(dir, { recursive: true, mode: 0o711 });
  writeEtc(join(dir, 'etc'), { authorities });
  await addPackageFiles(join(dir, 'etc'));
  const commands = join(dir, 'commands');
  if (unified) linkCommands(commands);
  const seccompFile = join(dir, 'seccomp');
  writeFileSync(seccompFile, program, { mode: 0o600 });
  return {
    dir,
    view: { ...systemView(join(dir, 'etc'), readOnlyPaths, tmpBytes), ...(lacking && { lacking }) },
    commands,
    seccompFile,
    setsidForks: await setsidForks(),
    fifos: new FifoPool(join(dir, 'fifos'), makeFifos, growPipe),
    scratch: newScratch(),
    paces: newReadPaces(),
    machine: new Machine(),
    room: new Shares(REQUEST_BYTES),
  };
}

const setsidForks = (): Promise<boolean> =>
  promisify(execFile)('/usr/bin/setsid', ['--fork', '/bin/true'], { cwd: '/', env: {} }).then(
    () => true,
    () => false,
  );
