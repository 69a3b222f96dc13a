import type { Host } from '../doctor/host.ts';

/** What an ordinary user lacks for a server in a user namespace of her own, and the command that gives it. */
export interface Lacking {
  what: string;
  command: string;
}

/** Users of sandboxes in the namespace; `start` is above those of the system. */
export interface UserRange {
  start: number;
  size: number;
}

const FIRST = 1000;
const LEAST = 1000;
const MOST = 60_000;

const UNSHARE = ['--user', '--map-root-user', '--map-auto', '--mount'] as const;

/**
 * /run belongs to the real root. In the namespace it is a new one, with what is in the old one, for example the
 * resolver's file, but not the mounts of other servers: this one makes its own there.
 */
const OWN_RUN = `
old=$(mktemp -d) && mount --rbind /run "$old" && mount -t tmpfs -o mode=755 run /run || exit 1
for each in "$old"/*; do
  new="/run/\${each##*/}"
  if [ "$new" = /run/paddock ]; then continue
  elif [ -L "$each" ]; then cp -P "$each" "$new"
  elif [ -d "$each" ]; then mkdir "$new" && mount --rbind "$each" "$new"
  elif [ -e "$each" ]; then : >"$new" && mount --bind "$each" "$new"
  fi
done 2>/dev/null
umount -l "$old" && rmdir "$old"
exec "$@"`;

/**
 * The words that run a server where its mounts are its own: nobody else sees them, and they end with it. With root in a
 * mount namespace, without root in a user namespace, too.
 */
export const wordsFor = (uid: number, words: readonly string[]): string[] =>
  uid === 0
    ? ['unshare', '--mount', '--propagation', 'slave', '--', ...words]
    : ['unshare', ...UNSHARE, '--', '/bin/sh', '-c', OWN_RUN, 'sh', ...words];

/** In the order in which to mend them; nothing: a server works. */
export async function lackingWithoutRoot(host: Host): Promise<Lacking | undefined> {
  const { user } = host;
  const device = host.deviceError('/dev/fuse');
  if (device === 'ENOENT') return { what: 'there is no /dev/fuse', command: 'sudo modprobe fuse' };
  if (device !== undefined) {
    return { what: `/dev/fuse cannot be opened: ${device}`, command: 'sudo chmod 0666 /dev/fuse' };
  }
  if (host.read('/proc/sys/user/max_user_namespaces') === '0') {
    return { what: 'user namespaces are not allowed', command: 'sudo sysctl -w user.max_user_namespaces=15000' };
  }
  if (!(await host.run('sh', ['-c', 'command -v newuidmap newgidmap'])).ok) {
    return { what: 'newuidmap is missing', command: 'sudo apt-get install -y uidmap' };
  }
  if (rangeOf(host) === undefined) return { what: `${user} has too few subordinate ids`, command: addIds(host) };
  if (!(await host.run('sh', ['-c', 'unshare --help | grep -q -e --map-auto'])).ok) {
    return { what: 'unshare has no --map-auto', command: 'install util-linux 2.38 (Debian 12, Ubuntu 24.04)' };
  }
  const { ok, text } = await host.run('unshare', [...UNSHARE, '--', 'true']);
  return ok ? undefined : { what: `no user namespace can be made: ${text}`, command: permit(host) };
}

function permit(host: Host): string {
  if (host.read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  }
  if (host.read('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return 'sudo sysctl -w kernel.unprivileged_userns_clone=1';
  }
  return 'run it outside of this container, or in one that permits user namespaces';
}

/** Of the first subordinate ids of the user, as `--map-auto` maps them; undefined: there are too few. */
export function rangeOf(host: Host): UserRange | undefined {
  const counts = ['/etc/subuid', '/etc/subgid'].map((file) => entriesOf(host, file).find(isOf(host))?.count ?? 0);
  const size = Math.min(MOST, Math.min(...counts) - FIRST);
  return size < LEAST ? undefined : { start: FIRST, size };
}

interface Entry {
  name: string;
  start: number;
  count: number;
}

const isOf =
  ({ user, uid }: Host) =>
  ({ name }: Entry) =>
    name === user || name === `${uid}`;

function entriesOf(host: Host, file: string): Entry[] {
  return (host.read(file) ?? '').split('\n').flatMap((line) => {
    const [name = '', start = '', count = ''] = line.split(':');
    return count === '' ? [] : [{ name, start: Number(start), count: Number(count) }];
  });
}

/** A range that nobody has. */
function addIds(host: Host): string {
  const all = [...entriesOf(host, '/etc/subuid'), ...entriesOf(host, '/etc/subgid')];
  const start = Math.max(100_000, ...all.map((each) => each.start + each.count));
  const range = `${start}-${start + 65_535}`;
  return `sudo usermod --add-subuids ${range} --add-subgids ${range} ${host.user}`;
}
