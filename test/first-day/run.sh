#!/bin/sh
# The first day of a developer, on a system of its own: sh scripts/bare-debian.sh 'sh test/first-day/run.sh'. Root installs packages
# and makes an account. All else is typed by that account, in day.sh: each of its steps is one promise. At the end root takes a
# change, too, for the owner of its files.
set -eu
cd "$(dirname "$0")/../.."

# CI has made it before, in the same system.
if ! [ -f "$(echo dist/packages/paddock_*.deb)" ]; then
  npm run --silent build
  npm run --silent packages -- --only=deb >/dev/null
fi
sh scripts/apt-install.sh ./dist/packages/paddock_*.deb git python3 python3-venv uidmap procps >/dev/null
# As on a desktop: the device is for everybody.
chmod 666 /dev/fuse
useradd --create-home --shell /bin/bash ada
install -m 755 test/first-day/day.sh test/first-day/answer.py /usr/local/bin/

began=$(date +%s)
setpriv --reuid ada --regid ada --init-groups env -i HOME=/home/ada USER=ada TERM=xterm \
  PATH=/home/ada/.cargo/bin:/usr/local/bin:/usr/bin:/bin sh /usr/local/bin/day.sh
printf 'first-day: the account was done in %s s\n' "$(($(date +%s) - began))"

# 3: what root takes stays the developer's.
cd /home/ada/shop
HOME=/root paddock run --from . --tools none --apply all -- sh -c 'echo "# by root" >> src/total.py; echo new > src/new.py'
for file in src/total.py src/new.py; do
  [ "$(stat -c %U "$file")" = ada ] || { echo "first-day: $file belongs to $(stat -c %U "$file")" >&2; exit 1; }
done
HOME=/root paddock server stop
echo 'first-day: done'
