#!/bin/sh
# Installs the packages that only the tests need: Docker, whose daemon the tests run privately, programs for images,
# certificates, networks (nc), subordinate ids, archives, systemd's units and terminals, pytest, pip and python3-venv. Installs missing packages only and
# prints one line for them.
set -eu

missing=
for want in dockerd:docker.io busybox:busybox-static openssl:openssl ps:procps ip:iproute2 \
  zstd:zstd xz:xz-utils systemd-analyze:systemd \
  pip:python3-pip tmux:tmux vi:vim-tiny less:less nc:netcat-openbsd pytest-3:python3-pytest newuidmap:uidmap; do
  PATH=$PATH:/usr/sbin:/sbin command -v "${want%%:*}" >/dev/null 2>&1 || missing="$missing ${want#*:}"
done
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || missing="$missing python3-venv"
[ -n "$missing" ] || exit 0

say() { printf 'setup: %s\n' "$*" >&2; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  say "the tests need$missing: install with this system's package manager"
  exit 1
fi
say "installing$missing with apt-get, for the tests"
# shellcheck disable=SC2086 # one word per package
if ! sh "$(dirname "$0")/apt-install.sh" $missing; then
  say "apt-get could not install$missing"
  exit 1
fi
