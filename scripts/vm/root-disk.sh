#!/bin/sh
# The disk that the virtual machine boots from: this machine's programs as their packages have them, its node, and the
# modules of the kernel. It is made once for what it is made of, kept in DIRECTORY, and never written to afterwards.
# Prints its path. Run by root, after packages.sh.
# usage: root-disk.sh DIRECTORY KERNEL
set -eu
cache=$1
kernel=$2
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
version=$(ls "$kernel/modules")
node=$(command -v node)

# What the server and the tests run, and how they got here does not matter: Debian's packages list their files.
WANTED='bubblewrap git python3 curl util-linux mount docker.io mawk busybox-static openssl procps kmod iproute2 iptables passwd'
# shellcheck disable=SC2016 # dpkg's own variables
essential=$(dpkg-query -W -f='${Essential} ${Package}\n' | sed -n 's/^yes //p')
# shellcheck disable=SC2086 # one word per package
packages=$(apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances $WANTED $essential | grep '^[a-z]' | sort -u)
# shellcheck disable=SC2016,SC2086
installed=$(dpkg-query -W -f='${db:Status-Status} ${binary:Package} ${Version}\n' $packages 2>/dev/null | sed -n 's/^installed //p')

key=$({
  cat "$here/root-disk.sh" "$here/init"
  printf '%s\n' "$installed" "$kernel" "$(node --version)"
  stat -c '%s %Y' "$(realpath "$node")"
} | sha256sum | cut -c1-16)
disk=$cache/root-$key.img
if [ -f "$disk" ]; then
  touch "$disk"
  printf '%s\n' "$disk"
  exit 0
fi

printf 'setup: making the disk of the virtual machine, %s\n' "$disk" >&2
mkdir -p "$cache"
# What no run has used for two weeks, and what an interrupted one left.
find "$cache" -maxdepth 1 -name 'root-*.img' -mtime +14 -delete
find "$cache" -maxdepth 1 -name 'making.*' -mtime +1 -exec rm -rf {} +
making=$(mktemp -d "$cache/making.XXXXXX")
trap 'rm -rf "$making"' EXIT
root=$making/root
mkdir -p "$root/usr/bin" "$root/usr/sbin" "$root/usr/lib" "$root/usr/lib64"
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done

printf '%s\n' "$installed" | while read -r package _; do dpkg -L "$package"; done |
  grep -vE '^/usr/share/(doc|man|locale|info|lintian|bash-completion|zoneinfo|icons)(/|$)|^/(\.|bin|sbin|lib|lib64)$' |
  sort -u | while read -r path; do [ -d "$path" ] && [ ! -L "$path" ] || [ ! -e "$path" ] || printf '%s\n' "${path#/}"; done >"$making/files"
{
  # What packages make when they are configured: links of alternatives, byte code of python.
  cd /
  find usr/bin usr/sbin -lname '/etc/alternatives/*'
  printf '%s\n' etc/alternatives usr/lib/python3*
  # Of what tests put into images of their own, they ask dpkg.
  printf '%s\n' var/lib/dpkg/status var/lib/dpkg/info/*.list
  # Node may have been installed without a package.
  printf '%s\n' "${node#/}" "$(realpath "$node" | cut -c2-)"
  ldd "$(realpath "$node")" | grep -o '/[^ ]*' | xargs -n1 realpath | cut -c2-
  cd - >/dev/null
} | sort -u >>"$making/files"
tar -C / -cf - -T "$making/files" | tar -C "$root" -xpf - --keep-directory-symlink

mkdir -p "$root/lib/modules/$version"
(cd "$kernel/modules/$version" && cp -r --parents modules.* kernel/fs kernel/net kernel/lib kernel/crypto kernel/drivers/net/veth.ko* "$root/lib/modules/$version")
depmod -b "$root" "$version"

for name in dev proc sys run tmp root checkout var/tmp var/lib; do mkdir -p "$root/$name"; done
chmod 1777 "$root/tmp" "$root/var/tmp"
printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\ntty:x:5:\nnogroup:x:65534:\n' >"$root/etc/group"
printf 'root:*:19000:0:99999:7:::\nnobody:*:19000:0:99999:7:::\n' >"$root/etc/shadow"
chmod 600 "$root/etc/shadow"
printf '127.0.0.1 localhost vm\n' >"$root/etc/hosts"
printf 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
cp "$here/init" "$root/init"
chmod 755 "$root/init"
ldconfig -r "$root"

# No journal: nothing that is written to it is ever kept.
mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$root" "$making/root.img" 3G >/dev/null
mv "$making/root.img" "$disk"
printf '%s\n' "$disk"
