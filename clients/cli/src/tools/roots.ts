import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInstallation, isWork, managedIn } from './layouts.ts';

/** What makes the programs of one directory of PATH work: paths to be shown, and variables. Or why it stays invisible. */
export type Rooted =
  | { mounts: readonly string[]; env?: Readonly<Record<string, string>> }
  | { mounts?: undefined; reason: string };

export interface Places {
  /** Real home directories of users. */
  homes: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

/** What every sandbox sees. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib'];
export const isSystem = (path: string): boolean => SYSTEM.some((each) => isWithin(path, each));

export const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** Programs of one file each, in directories that have other things of the user, too. */
const SINGLE = ['uv', 'uvx', 'deno', 'bun', 'mise', 'pixi', 'ruff', 'just', 'rg', 'fd', 'jq', 'gh'];

/**
 * The root of the tool whose programs are in `directory`, which is real and not part of the system. The threat: what is
 * beside the programs of a project or a person, like keys. So only installations of a known form are shown as a whole, never
 * a home directory or what has one below it.
 */
export function rootOf(directory: string, { homes, env }: Places): Rooted {
  const above = dirname(directory);
  if (isWithin(directory, '/snap')) return { reason: 'snaps need their own mounts' };
  if (isWithin(directory, '/mnt')) return { reason: 'it is on a disk of another system' };
  if (isWithin(directory, '/nix')) return { mounts: ['/nix'] };
  const home = homes.filter((each) => isWithin(directory, each)).sort((one, other) => other.length - one.length)[0];
  const isWhole = (path: string) => homes.some((each) => isWithin(each, path));
  if (isWhole(directory) || above === '/') return { reason: 'it has more than tools' };
  if (directory === realOf(env.CARGO_HOME, 'bin') || (home && directory === join(home, '.cargo/bin'))) {
    return rust(directory, env.RUSTUP_HOME || join(home ?? homes[0] ?? above, '.rustup'), isWhole);
  }
  if (home && (directory === join(home, '.local/bin') || directory === join(home, 'bin'))) {
    const mounts = SINGLE.map((name) => join(directory, name)).filter(isPlainFile);
    return mounts.length > 0 ? { mounts } : { reason: 'it has programs of yours' };
  }
  if (above === home) return { reason: 'it has files of yours' };
  if (isWork(directory)) return { reason: 'it has files of a project' };
  const managed = managedIn(above);
  if (managed) return { mounts: managed };
  return { mounts: [!isWhole(above) && isInstallation(above, home) ? above : directory] };
}

/** Its programs choose a toolchain, which is elsewhere. `.cargo` itself has the token of a registry. */
function rust(directory: string, toolchains: string, isWhole: (path: string) => boolean): Rooted {
  if (!existsSync(join(toolchains, 'toolchains'))) return { mounts: [directory] };
  const real = realpathSync(toolchains);
  if (isWhole(real) || isWork(real)) return { mounts: [directory] };
  return { mounts: [directory, real], env: { RUSTUP_HOME: real } };
}

function realOf(directory: string | undefined, name: string): string | undefined {
  return directory && existsSync(join(directory, name)) ? realpathSync(join(directory, name)) : undefined;
}

/** Not a link: the server refuses paths that lead elsewhere. */
function isPlainFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true && realpathSync(path) === path;
}
