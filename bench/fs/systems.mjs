/** The compared file systems: each provides a directory with the contents of the codebase that can be changed. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export const UID = 64_001;
export const NAMES = ['native', 'overlayfs', 'fuse-overlayfs', 'bindfs', 'ours'];
const PACKAGES = { 'fuse-overlayfs': 'fuse-overlayfs', bindfs: 'bindfs' };
export const ALL_WRITE = [{ pattern: '/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];

const run = (command, ...args) => execFileSync(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'inherit'] });
const installed = (command) => existsSync(`/usr/bin/${command}`);

export function install() {
  const missing = Object.entries(PACKAGES).flatMap(([command, name]) => (installed(command) ? [] : [name]));
  if (missing.length > 0) run('apt-get', 'install', '-y', '--no-install-recommends', ...missing);
}

/** Mounts the file systems in `names` that this machine has over `base`, each with its own changes. */
export async function mountSystems({ base, home, workspaces, names, importTree }) {
  const directories = {};
  const unmounts = [];
  for (const name of names) {
    if (name in PACKAGES && !installed(name)) continue;
    const at = join(home, name);
    for (const part of ['mnt', 'upper', 'work']) mkdirSync(join(at, part), { recursive: true });
    for (const path of [at, join(at, 'mnt'), join(at, 'upper')]) run('chown', `${UID}:${UID}`, path);
    directories[name] = await MOUNT[name](at, base, workspaces, importTree);
    if (name !== 'native' && name !== 'ours' && name !== 'tree') unmounts.push(() => run('umount', join(at, 'mnt')));
  }
  return { directories, unmount: () => unmounts.forEach((unmount) => void unmount()) };
}

const MOUNT = {
  native: (at, base) => copy(base, join(at, 'upper')),
  overlayfs: (at, base) => {
    run(
      'mount',
      '-t',
      'overlay',
      'overlay',
      join(at, 'mnt'),
      '-o',
      `lowerdir=${base},upperdir=${at}/upper,workdir=${at}/work`,
    );
    return join(at, 'mnt');
  },
  'fuse-overlayfs': (at, base) => {
    run(
      'fuse-overlayfs',
      '-o',
      `allow_other,lowerdir=${base},upperdir=${at}/upper,workdir=${at}/work`,
      join(at, 'mnt'),
    );
    return join(at, 'mnt');
  },
  bindfs: (at, base) => {
    copy(base, join(at, 'upper'));
    run('bindfs', join(at, 'upper'), join(at, 'mnt'));
    return join(at, 'mnt');
  },
  ours: (at, base, workspaces) => workspaces.attach(spec('ours', base, join(at, 'delta'))),
  tree: (at, base, workspaces, importTree) =>
    workspaces.attach({
      ...spec('tree', base, join(at, 'delta')),
      tree: importTree(base, join(at, 'store'), false),
    }),
};

/** Returns the options of a workspace as the service attaches it: one uid, everything writable. */
export function spec(id, base, delta, { uid = UID, rules = ALL_WRITE } = {}) {
  return { id, codebaseId: 'bench', base, delta, uid, rules, maxBytes: 10 * 2 ** 30, maxFiles: 1_000_000 };
}

function copy(from, to) {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  run('chown', '-R', `${UID}:${UID}`, to);
  return to;
}
