#!/bin/sh
# usage: scripts/test-adapters.sh [--install | VITEST ARGUMENT...]
# Checks the types of clients/adapters and runs its tests and examples, against the packages of the frameworks in their
# pinned versions. These are installed once, into clients/adapters/node_modules, those of Python into .python there. --install does no more than that.
# Runs on Node 24: the AI SDK needs 22, and the examples are run as they are, without a build.
set -eu
cd "$(dirname "$0")/.."
adapters=clients/adapters

case $(node -p process.versions.node) in
2[4-9].* | [3-9]?.*) ;;
*) exec sh scripts/on-node.sh 24 sh scripts/test-adapters.sh "$@" ;;
esac

# The list of what is installed is written last: without it an installation was interrupted.
installed=$adapters/node_modules/.installed
if ! cmp -s "$adapters/package-lock.json" "$installed"; then
  sh scripts/from-network.sh npm ci --prefix "$adapters" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$adapters/package-lock.json" "$installed"
fi
python=$adapters/node_modules/.python
if ! cmp -s "$adapters/python/requirements.txt" "$python/.installed"; then
  sh scripts/test-packages.sh
  /usr/bin/python3 -m venv --clear "$python"
  sh scripts/from-network.sh "$python/bin/pip" install --quiet --disable-pip-version-check -r "$adapters/python/requirements.txt"
  cp "$adapters/python/requirements.txt" "$python/.installed"
fi
[ "${1:-}" != --install ] || exit 0

PATH=$PWD/node_modules/.bin:$PATH
npm run --silent build --prefix clients/typescript
tsc -p "$adapters"
exec vitest run --config vitest.adapters.config.ts "$@"
