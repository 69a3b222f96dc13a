import { AGENT_DIR, WORKSPACE } from '../executor/places.ts';
import type { RootFileSystem } from '../root-file-system.ts';
import { ENVIRONMENT, HOME, SHM_BYTES } from '../sandbox-environment.ts';
import type { ShownPath } from '../shown/shown-limits.ts';

/** A top-level entry of the host's system that sandboxes see: a symbolic link of a merged /usr, or a directory. */
export interface SystemEntry {
  path: string;
  link?: string;
  /** Host directory shown at `path`, if it differs from `path`. */
  source?: string;
  /** An empty directory, which is not the host's. */
  empty?: boolean;
}

/** The part of the host's system that all sandboxes of a server see; determined once. */
export interface SystemView {
  entries: readonly SystemEntry[];
  /** Host directory shown as /etc; holds only files written or selected for sandboxes. */
  etc: string;
  /** /proc files and directories to mask, among those that exist on this kernel. */
  maskedFiles: readonly string[];
  maskedDirs: readonly string[];
  /** Additional host paths configured by the operator, shown read-only at the same path. */
  readOnlyPaths: readonly string[];
  /** Size of /tmp. */
  tmpBytes: number;
  /** Options that this bwrap is too old for (see `optionsLacking`); absent: none. */
  lacking?: readonly NewerOption[];
}

/**
 * Options that the bwrap of some supported distribution lacks, with the first version that has them. Without
 * --disable-userns only the seccomp program refuses nested user namespaces; without --size a tmpfs can grow to half of
 * the RAM or to the memory limit.
 */
const NEWER_OPTIONS = { '--size': [0, 7, 0], '--disable-userns': [0, 8, 0] } as const;
export type NewerOption = keyof typeof NEWER_OPTIONS;

/** The optional arguments that a bwrap of this version does not have. */
export function optionsLacking(version: readonly number[]): NewerOption[] {
  return (Object.keys(NEWER_OPTIONS) as NewerOption[]).filter((option) => isOlder(version, NEWER_OPTIONS[option]));
}

/** Compares versions part by part; a missing part is 0. */
export function isOlder(version: readonly number[], than: readonly number[]): boolean {
  const index = than.findIndex((part, at) => part !== version[at]);
  return index >= 0 && (version[index] ?? 0) < (than[index] ?? 0);
}

/** What one sandbox sees. No path of `readOnly` and `workspacePath` is at, above or below another one. */
export interface SandboxView {
  workspace: string;
  home: string;
  agentDir: string;
  rootfs?: (RootFileSystem & { path: string }) | undefined;
  /** Its own limits, in place of the machine's. */
  shown?: readonly ShownPath[];
  /** Paths of the host, shown read-only at `path`. */
  readOnly?: readonly { path: string; source: string }[];
  /** Where the workspace is shown, too. */
  workspacePath?: string | undefined;
}

export const INNER_ID = 1000;
/** Descriptor on which the launcher opens the seccomp program. */
export const SECCOMP_FD = 4;

/**
 * Builds the bwrap arguments for one sandbox. They are passed on a descriptor (`--args`), because /proc/1/cmdline is
 * readable inside.
 *
 * bwrap creates nothing below /workspace and HOME: the tenant can write there, and following a planted link would leave the
 * sandbox (GHSA-pxhw-h44j-8pfx). Operations run in order; the root is made read-only last.
 */
export function bwrapArguments(host: SystemView, sandbox: SandboxView): string[] {
  const { workspace, home, agentDir, rootfs, shown = [], readOnly = [], workspacePath } = sandbox;
  const view = rootfs === undefined ? host : imageView(host, rootfs);
  const environment = rootfs === undefined ? ENVIRONMENT : environmentOf(rootfs);
  const has = (option: NewerOption) => !view.lacking?.includes(option);
  const sized = (bytes: number) => (has('--size') ? ['--size', `${bytes}`] : []);
  const tmpfs = (path: string, bytes: number, perms: string) => ['--perms', perms, ...sized(bytes), '--tmpfs', path];
  return [
    // Not --unshare-all: for user and cgroup namespaces it continues without isolation if the kernel refuses them.
    ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup'],
    has('--disable-userns') ? ['--disable-userns'] : [],
    ['--uid', `${INNER_ID}`, '--gid', `${INNER_ID}`, '--hostname', 'sandbox'],
    ['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--seccomp', `${SECCOMP_FD}`],
    ['--clearenv', ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])],
    ...view.entries.map(({ path, link, source, empty }) => {
      if (empty) return ['--perms', '0755', '--dir', path];
      return link === undefined ? ['--ro-bind', source ?? path, path] : ['--symlink', link, path];
    }),
    ['--ro-bind', view.etc, '/etc'],
    // That of an image may be from a release whose sandboxes asked for no names. The file is in each (IMAGE_ETC).
    rootfs === undefined ? [] : ['--ro-bind', `${host.etc}/nsswitch.conf`, '/etc/nsswitch.conf'],
    ['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
    ...view.maskedFiles.map((path) => ['--ro-bind', '/dev/null', path]),
    ...view.maskedDirs.map((path) => tmpfs(path, 4096, '0555')),
    ...shown.map(({ source, link, path }) =>
      link === undefined ? ['--ro-bind', source, path] : ['--symlink', link, path],
    ),
    ['--dev', '/dev'],
    tmpfs('/dev/shm', SHM_BYTES, '1777'),
    tmpfs('/tmp', view.tmpBytes, '1777'),
    view.entries.some(({ path }) => path === '/var') ? [] : ['--symlink', '/tmp', '/var/tmp'],
    ...view.readOnlyPaths.map((path) => ['--ro-bind', path, path]),
    ...readOnly.map(({ path, source }) => ['--ro-bind', source, path]),
    ['--ro-bind', agentDir, AGENT_DIR],
    workspacePath === undefined ? [] : ['--bind', workspace, workspacePath],
    ['--bind', home, HOME],
    ['--bind', workspace, WORKSPACE, '--chdir', WORKSPACE],
    ['--remount-ro', '/dev', '--remount-ro', '/'],
  ].flat();
}

/** An image has its own /var/tmp. Paths of the operator are not shown: their mount points may not exist in it. */
function imageView(host: SystemView, { path: root, entries }: RootFileSystem & { path: string }): SystemView {
  return {
    ...host,
    entries: entries.map(({ name, ...entry }) => ({ ...entry, path: `/${name}`, source: `${root}/${name}` })),
    etc: `${root}/etc`,
    readOnlyPaths: [],
  };
}

/** Names that change how a shell reads its scripts, or that the script of the agent uses. */
const OF_SHELLS = /^(SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|BASH_ENV|ENV|IFS|n|s)$/;

/** The user is the sandbox's, whatever the image says. The agent's shell has this environment, too. */
function environmentOf(image: RootFileSystem): Readonly<Record<string, string>> {
  const env = Object.fromEntries(Object.entries(image.env).filter(([name]) => !OF_SHELLS.test(name)));
  const { USER, LOGNAME, SHELL, TERM } = ENVIRONMENT as Record<string, string>;
  const own = { HOME, USER, LOGNAME, SHELL, TERM } as Record<string, string>;
  return { ...ENVIRONMENT, ...env, ...own };
}

/** Encodes the arguments for `--args FD`: each terminated by NUL. */
export function encodeArguments(args: readonly string[]): string {
  for (const arg of args) if (arg.includes('\0')) throw new RangeError('an argument holds a NUL');
  return args.map((arg) => `${arg}\0`).join('');
}
