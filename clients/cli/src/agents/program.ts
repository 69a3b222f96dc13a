import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { type Env, isInTheWay, type Workspace } from '../tools/find.ts';
import { homesOf } from '../tools/homes.ts';
import { isInstallation } from '../tools/layouts.ts';
import { isSystem, isWithin, rootOf } from '../tools/roots.ts';

export interface Program {
  /** Where a sandbox has it. */
  path: string;
  /** What must be shown for it, beside the tools in PATH. */
  mounts: readonly string[];
}

interface Places {
  env: Env;
  workspace?: Workspace | undefined;
  homes?: readonly string[];
}

/**
 * The program of that name in PATH, with all that it needs of its installation and nothing beside it. undefined: there is
 * none, or it is where a sandbox has something else.
 */
export function findProgram(command: string, { env, workspace, homes = homesOf(env) }: Places): Program | undefined {
  const directories = (env.PATH ?? '').split(':').filter((each) => isAbsolute(each));
  const found = directories.map((each) => join(each, command)).find(isExecutable);
  if (found === undefined) return undefined;
  const real = realpathSync(found);
  if (isSystem(real)) return { path: real, mounts: [] };
  if (workspace && isWithin(real, workspace.real)) {
    return { path: join(workspace.shown, relative(workspace.real, real)), mounts: [] };
  }
  const mounts = installationOf(real, { homes, env });
  return mounts.some((each) => isInTheWay(each, workspace)) ? undefined : { path: real, mounts };
}

function installationOf(program: string, places: { homes: readonly string[]; env: Env }): readonly string[] {
  const { homes } = places;
  // The outermost: what its packages share is beside them.
  const [, modules] = /^(.*?\/node_modules)\//.exec(program) ?? [];
  if (modules !== undefined) return [modules];
  const above = dirname(dirname(program));
  const python = realOf(join(above, 'bin/python3'));
  const home = homes.find((each) => isWithin(above, each));
  if (python !== undefined && realOf(join(above, 'pyvenv.cfg')) !== undefined && isInstallation(above, home)) {
    return [above, ...(isSystem(python) ? [] : mountsOf(dirname(python), places))];
  }
  // A script finds its parts beside itself; other programs are one file.
  return isScript(program) ? [...mountsOf(dirname(program), places), program] : [program];
}

const mountsOf = (directory: string, places: { homes: readonly string[]; env: Env }): readonly string[] =>
  rootOf(directory, places).mounts ?? [];

const isScript = (path: string): boolean => readFileSync(path).subarray(0, 2).toString('latin1') === '#!';

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
