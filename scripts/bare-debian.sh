#!/bin/sh
# usage: scripts/bare-debian.sh COMMAND
# Runs a command of sh in a copy of this checkout on a bare Debian: debootstrap's minbase, with Node and npm of this machine and
# node_modules of the checkout. What the project's own scripts do not install is missing there. Needs root. The system is
# made anew, in memory (about 2 GB), and is gone at the end.
set -eu
cd "$(dirname "$0")/.."

suite=bookworm
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

fail() {
  printf 'bare-debian: %s\n' "$*" >&2
  exit 1
}

[ $# = 1 ] || fail 'usage: scripts/bare-debian.sh COMMAND'

# In mounts and processes of its own, which end with it.
if [ "${BARE_DEBIAN_ROOT:-}" = '' ]; then
  [ "$(id -u)" = 0 ] || fail 'must be root'
  [ -d node_modules ] || fail 'no node_modules: run npm ci'
  root=$(mktemp -d)
  trap 'rmdir "$root"' EXIT
  BARE_DEBIAN_ROOT=$root unshare --mount --pid --fork --kill-child -- sh scripts/bare-debian.sh "$1"
  exit
fi
root=$BARE_DEBIAN_ROOT
unset BARE_DEBIAN_ROOT
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"


PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || sh scripts/apt-install.sh debootstrap debian-archive-keyring || fail 'no debootstrap'
# It continues where it has failed.
sh scripts/from-network.sh debootstrap --variant=minbase "$suite" "$root/system" "$mirror" || fail 'debootstrap failed'
root=$root/system

# How this machine reaches the mirror.
apt-config dump | grep -E '^Acquire::https?(::| )' >"$root/etc/apt/apt.conf.d/50host" || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
# Nothing of it survives a loss of power anyway.
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/50memory"

modules=$root/usr/local/lib/node_modules
mkdir -p "$modules" "$root/src"
cp -L "$(command -v node)" "$root/usr/local/bin/node"
cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$modules/npm"
for each in npm npx; do ln -s "../lib/node_modules/npm/bin/$each-cli.js" "$root/usr/local/bin/$each"; done
git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- -c | tar -x -C "$root/src"
cp -a node_modules "$root/src/"

# A root by pivot_root: the kernel grants no user namespaces in a chroot.
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
cd "$root"
mkdir -p mnt/old
pivot_root . mnt/old
exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${CI:+CI="$CI"} \
  sh -c 'umount -l /mnt/old; cd /src && eval "$1"' sh "$1"
