#!/bin/sh
# Installs the Debian packages of `npm run test:vm`: an emulator, the tools that build its disks, and a kernel to boot. The
# kernel is unpacked into DIRECTORY, never installed. Installs missing packages only and prints one line for them. The last
# line on stdout is the directory of the kernel.
# usage: packages.sh DIRECTORY
set -eu
cache=$1

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

scripts=$(cd "$(dirname "$0")/.." && pwd)
from_network() { sh "$scripts/from-network.sh" "$@"; }

[ "$(uname -m)" = x86_64 ] || fail 'the virtual machine runs this machine’s programs, which must be x86-64'
command -v apt-get >/dev/null 2>&1 || fail 'the virtual machine is built from packages of Debian 12: apt-get is missing'
[ "$(id -u)" = 0 ] || fail 'only root can build the disks of the virtual machine'
PATH=$PATH:/usr/sbin:/sbin

updated=
update() {
  [ -n "$updated" ] || from_network apt-get -o DPkg::Lock::Timeout=300 update || fail 'apt-get update failed'
  updated=1
}

missing=
for want in qemu-system-x86_64:qemu-system-x86 depmod:kmod mke2fs:e2fsprogs ip:iproute2; do
  command -v "${want%%:*}" >/dev/null 2>&1 || missing="$missing ${want#*:}"
done
if [ -n "$missing" ]; then
  say "installing$missing with apt-get, for the virtual machine"
  # shellcheck disable=SC2086 # one word per package
  sh "$scripts/apt-install.sh" $missing || fail "apt-get could not install$missing"
  updated=1
fi

# The metapackage depends on the current one: linux-image-6.1.0-56-cloud-amd64.
current() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p'; }
package=$(current)
[ -n "$package" ] || {
  update
  package=$(current)
}
[ -n "$package" ] || fail 'no package linux-image-cloud-amd64: is this Debian 12?'
kernel=$cache/$package
if [ ! -f "$kernel/vmlinuz" ]; then
  say "unpacking $package into $cache, for the virtual machine"
  mkdir -p "$cache"
  making=$(mktemp -d "$cache/making.XXXXXX")
  trap 'rm -rf "$making"' EXIT
  # As root, because apt's own user cannot write to the directory.
  download() { (cd "$making" && "$@" apt-get -o APT::Sandbox::User=root download "$package"); }
  # The lists of packages may be older than the archive.
  download >"$making/log" 2>&1 || {
    update
    download from_network || fail "apt-get could not download $package"
  }
  dpkg -x "$making"/*.deb "$making/unpacked" || fail "$package could not be unpacked"
  mkdir "$making/kernel"
  mv "$making"/unpacked/boot/vmlinuz-* "$making/kernel/vmlinuz"
  mv "$making"/unpacked/lib/modules "$making/kernel/modules"
  # A concurrent run may have created it.
  mv -T "$making/kernel" "$kernel" 2>/dev/null || [ -f "$kernel/vmlinuz" ] || fail "$kernel could not be created"
fi
printf '%s\n' "$kernel"
