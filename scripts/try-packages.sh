#!/bin/sh
# Installs the packages of a release on this machine as a user does, and runs a command with each. Meant for a system of its own:
# sh scripts/bare-debian.sh 'sh scripts/try-packages.sh'. Removes the Debian package again; its configuration and state stay.
set -eu
cd "$(dirname "$0")/.."

fail() {
  printf 'try-packages: %s\n' "$*" >&2
  exit 1
}

npm run --silent build
npm run --silent packages -- --only=cli,deb
[ -x /usr/bin/git ] || sh scripts/apt-install.sh git

# The Debian package: a server with keys, configured before its first start.
sh scripts/apt-install.sh ./dist/packages/paddock_*.deb
paddock --version
sed -i 's/^  mode: off /  mode: keys /' /etc/paddock/server.yaml
key=$(paddock key create --admin -config /etc/paddock/server.yaml)
# As the unit starts it.
start=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/paddock.service)
$start -http-addr 127.0.0.1:8080 -grpc-addr 127.0.0.1:9000 >/tmp/server.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
tries=0
until paddock health 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || { cat /tmp/server.log; fail 'the server of the package does not answer'; }
  sleep 0.2
done
project=$(mktemp -d)
echo 'secret' >"$project/private"
cd "$project"
said=$(PADDOCK_URL=http://127.0.0.1:8080 PADDOCK_KEY=$key paddock run --from . --rule none:private --rule write:new --apply all -- sh -c 'ls; echo done > new')
[ "$said" = '' ] && [ "$(cat new)" = 'done' ] || fail "the command of the package printed: $said"
kill "$server"
wait "$server" || fail "the server of the package ended with $?"
trap - EXIT
cd - >/dev/null
dpkg --remove paddock
[ ! -e /usr/bin/paddock ] && [ -d /var/lib/paddock ] || fail 'the removal left the program, or took the state'

# The npm package, in an empty folder, with a local server of its own.
package=$(echo "$PWD"/dist/packages/paddock-sandbox-cli-*.tgz)
cd "$(mktemp -d)"
cp "$package" .
package=./$(basename "$package")
said=$(npx --yes "$package" run --from . --exclude '*.tgz' -- echo hello)
[ "$said" = 'hello' ] || fail "npx printed: $said"
npx --yes "$package" server stop
echo 'try-packages: installed, run and removed'
