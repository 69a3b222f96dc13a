#!/bin/sh
# Runs a command, for example `npm run demo`, as root of a new user namespace, for a user who is not root on this machine.
# Needs subordinate ids (/etc/subuid, /etc/subgid), newuidmap and util-linux 2.38. docs/configuration.md describes the restrictions.
# usage: sh scripts/unprivileged.sh COMMAND...
set -eu
say() { printf 'unprivileged: %s\n' "$*" >&2; }

if [ "$(id -u)" = 0 ]; then
  say 'you are root: run the command directly'
  exit 1
fi
[ -x /usr/bin/newuidmap ] || {
  say 'newuidmap is missing: ask an administrator to run: apt-get install -y uidmap'
  exit 1
}
unshare --help | grep -q -e --map-auto || {
  say 'unshare has no --map-auto: util-linux 2.38 or later is needed (Debian 12, Ubuntu 24.04)'
  exit 1
}
[ ! -e "$(dirname "$0")/../package.json" ] || sh "$(dirname "$0")/setup.sh" --prepare

# /run belongs to the real root, so the server gets a tmpfs there. From here on no network is needed.
# shellcheck disable=SC2016 # for the inner shell
exec unshare --user --map-root-user --map-auto --mount -- \
  sh -c 'mount -t tmpfs -o mode=755 tmpfs /run && exec "$@"' sh "$@"
