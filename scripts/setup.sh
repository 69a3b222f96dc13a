#!/bin/sh
# Prepares this checkout to run: system packages, node_modules, dist/server.mjs. Run by `npm run demo` and `npm test`.
# Installs missing parts only and prints one line for each; prints nothing if nothing is missing.
# `--prepare`: does not require root; for scripts/unprivileged.sh, which continues in a user namespace.
# `--modules`: installs node_modules only, which needs no root; for `npm run build`.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Each step leaves a complete result or none, so the next run repairs an interrupted one.

node_runtime() {
  command -v node >/dev/null 2>&1 || fail 'Node is needed, 24 is recommended: https://nodejs.org/en/download'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a >= 24 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node 24, 22.12 or 20.19 or a later release of these is needed, this is $(node --version): https://nodejs.org/en/download"
}

# A sandbox sees the system's /usr read-only, so programs must be in /usr/bin; another directory of PATH does not suffice.
system_packages() {
  missing=
  for each in bwrap:bubblewrap git:git python3:python3 curl:curl setpriv:util-linux mount:mount; do
    [ -x "/usr/bin/${each%%:*}" ] || [ -x "/bin/${each%%:*}" ] || missing="$missing ${each#*:}"
  done
  # For networks of sandboxes and the limit of their terminals. Debian and Ubuntu always have it, others say so when it is needed.
  ! command -v apt-get >/dev/null 2>&1 || command -v perl >/dev/null 2>&1 || missing="$missing perl-base"
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    fail "missing$missing: ask an administrator to run: apt-get install -y$missing uidmap"
  fi
  command -v apt-get >/dev/null 2>&1 || fail "missing$missing: install with this system's package manager, then run this again"
  say "installing$missing with apt-get"
  # shellcheck disable=SC2086 # one word per package
  sh scripts/apt-install.sh $missing || fail "apt-get could not install$missing"
}

# The workspace file system is served through /dev/fuse.
fuse_device() {
  [ ! -c /dev/fuse ] || return 0
  [ "$(id -u)" = 0 ] || fail 'no /dev/fuse: ask an administrator to run: modprobe fuse'
  say 'loading the fuse module, /dev/fuse is missing'
  modprobe fuse 2>/dev/null || true
  [ -c /dev/fuse ] || mknod -m 666 /dev/fuse c 10 229 2>/dev/null || true
  [ -c /dev/fuse ] || fail 'no /dev/fuse: in a container, start it with --device /dev/fuse --cap-add SYS_ADMIN'
}

# A sandbox is never root on the host, so bwrap must work under another uid.
can_isolate() {
  set -- /usr/bin/bwrap --unshare-user --unshare-pid --unshare-net --ro-bind / / /bin/true
  [ "$(id -u)" != 0 ] || set -- /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"
  refusal=$(env -i "$@" 2>&1)
}

# On Ubuntu 24.04 a program without root may create a user namespace only if an AppArmor profile grants it `userns`.
user_namespaces() {
  ! can_isolate || return 0
  restricted=$(cat /proc/sys/kernel/apparmor_restrict_unprivileged_userns 2>/dev/null || echo 0)
  if [ "$restricted" = 1 ] && [ "$(id -u)" = 0 ] && command -v apparmor_parser >/dev/null 2>&1; then
    say 'installing the AppArmor profile /etc/apparmor.d/paddock-bwrap: it lets /usr/bin/bwrap create user namespaces'
    cp scripts/apparmor-bwrap.profile /etc/apparmor.d/paddock-bwrap
    apparmor_parser --replace /etc/apparmor.d/paddock-bwrap || say 'apparmor_parser could not load it'
    ! can_isolate || return 0
  fi
  if [ "$restricted" = 1 ]; then
    fail "bwrap may not create user namespaces ($refusal): as root, run scripts/setup.sh, or: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
  fi
  fail "bwrap does not work ($refusal): see sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone; a container must allow nested user namespaces"
}

node_modules() {
  ! node scripts/dependencies-current.mjs || return 0
  say 'installing node_modules with npm ci'
  sh scripts/from-network.sh npm ci --include=dev --no-audit --no-fund || fail 'npm ci failed'
}

server_bundle() {
  newer=$(find app adapters clients/cli clients/typescript/src handlers lib local-refusals proto configs package.json package-lock.json esbuild.config.mjs -newer dist/server.mjs 2>/dev/null | head -n 1 || true)
  [ ! -f dist/server.mjs ] || [ ! -f dist/paddock.mjs ] || [ -n "$newer" ] || return 0
  say 'building dist/server.mjs and dist/paddock.mjs'
  built=$(npm run --silent build 2>&1) || {
    printf '%s\n' "$built" | tail -n 20 >&2
    fail 'npm run build failed'
  }
}

# Only root may mount, and run sandboxes under user ids of their own.
root_or_prepare() {
  [ "$(id -u)" != 0 ] && [ "$1" != --prepare ] || return 0
  fail 'you are not root: run: sh scripts/unprivileged.sh npm run demo (npm test needs root; see "Without root" in docs/configuration.md)'
}

node_runtime
if [ "${1:-}" = --modules ]; then
  node_modules
  exit
fi
root_or_prepare "${1:-}"
system_packages
fuse_device
user_namespaces
node_modules
server_bundle
