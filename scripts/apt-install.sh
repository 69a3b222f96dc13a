#!/bin/sh
# usage: scripts/apt-install.sh PACKAGE...
# Installs packages of this system's archive, as root. Each attempt reads the archive's lists anew: it may have changed since the last.
# Others wait until it has ended: apt-get waits for the lock of packages, and not for that of the lists.
set -eu
if [ "${1:-}" != --once ]; then
  exec sh "$(dirname "$0")/from-network.sh" flock /run/paddock-apt.lock sh "$0" --once "$@"
fi
shift
export DEBIAN_FRONTEND=noninteractive
apt-get -o DPkg::Lock::Timeout=300 update
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
