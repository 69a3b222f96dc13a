import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** What makes the programs of one directory of PATH work: paths to be shown, and variables. Or why it stays invisible. */
export type Rooted =
  | { mounts: readonly string[]; env?: Readonly<Record<string, string>> }
  | { mounts?: undefined; reason: string };

export interface Places {
  home: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** What every sandbox sees. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib'];
export const isSystem = (path: string): boolean => SYSTEM.some((each) => isWithin(path, each));

export const isWithin = (path: string, above: string): boolean => path === above || path.startsWith(`${above}/`);

/** Programs of one file each, in directories that have other things of the user, too. */
const SINGLE = ['uv', 'uvx', 'deno', 'bun', 'mise', 'pixi', 'ruff', 'just', 'rg', 'fd', 'jq', 'gh'];

/**
 * The root of the tool whose programs are in `directory`, which is real and not part of the system: never more of the home
 * directory than the tool. A directory that begins with a dot there may have keys, so only its programs are shown.
 */
export function rootOf(directory: string, { home, env }: Places): Rooted {
  const above = dirname(directory);
  if (isWithin(directory, '/snap')) return { reason: 'snaps need their own mounts' };
  if (isWithin(directory, '/mnt')) return { reason: 'it is on a disk of another system' };
  if (isWithin(directory, '/nix')) return { mounts: ['/nix'] };
  if (directory === join(env.CARGO_HOME || join(home, '.cargo'), 'bin')) return rust(directory, { home, env });
  if (basename(directory) === 'shims' && hasOne(above, ['versions', 'installs'])) return { mounts: [above] };
  if (directory === join(home, '.local/bin') || directory === join(home, 'bin')) {
    const mounts = SINGLE.map((name) => join(directory, name)).filter(isPlainFile);
    return mounts.length > 0 ? { mounts } : { reason: 'it has programs of yours' };
  }
  if (dirname(directory) === home) return { reason: 'it has files of yours' };
  return { mounts: [isInstallation(above, home) ? above : directory] };
}

/** Its programs choose a toolchain, which is elsewhere. `.cargo` itself has the token of a registry. */
function rust(directory: string, { home, env }: Places): Rooted {
  const toolchains = env.RUSTUP_HOME || join(home, '.rustup');
  if (!existsSync(toolchains)) return { mounts: [directory] };
  return { mounts: [directory, toolchains], env: { RUSTUP_HOME: toolchains } };
}

/** Like /opt/node and ~/.nvm/versions/node/v24.1.0, and unlike /opt and ~/.local. */
function isInstallation(path: string, home: string): boolean {
  if (hasOne(path, ['conda-meta'])) return true;
  const depth = path.split(sep).length - (isWithin(path, home) ? home.split(sep).length : 1);
  return depth >= 2 && path !== join(home, '.local') && hasOne(path, ['lib', 'libexec', 'pkg']);
}

const hasOne = (path: string, names: readonly string[]): boolean => names.some((name) => existsSync(join(path, name)));

function isPlainFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
