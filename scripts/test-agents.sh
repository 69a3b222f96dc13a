#!/bin/sh
# usage: scripts/test-agents.sh [VITEST ARGUMENT...]
# Runs the agents of docs/agents.md in sandboxes, with their own packages in the versions that are written there, against a
# model server. Installs them once, into the cache of the user. Needs root and the registries of npm and PyPI.
set -eu
cd "$(dirname "$0")/.."
npm_packages="@anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33"
python_packages="aider-chat==0.86.2"

export PADDOCK_AGENTS="${XDG_CACHE_HOME:-$HOME/.cache}/paddock-agents"
# What is installed is written last: without it an installation was interrupted.
if [ "$(cat "$PADDOCK_AGENTS/installed" 2>/dev/null)" != "$npm_packages $python_packages" ]; then
  sh scripts/test-packages.sh
  mkdir -p "$PADDOCK_AGENTS"
  # shellcheck disable=SC2086 # Several words.
  sh scripts/from-network.sh npm install --prefix "$PADDOCK_AGENTS" --ignore-scripts --no-audit --no-fund --loglevel=error $npm_packages
  # Their scripts put the program of this machine in place.
  modules=$PADDOCK_AGENTS/node_modules
  (cd "$modules/@anthropic-ai/claude-code" && node install.cjs)
  (cd "$modules/opencode-ai" && node postinstall.mjs)
  /usr/bin/python3 -m venv --clear "$PADDOCK_AGENTS/python"
  sh scripts/from-network.sh "$PADDOCK_AGENTS/python/bin/pip" install --quiet --disable-pip-version-check "$python_packages"
  echo "$npm_packages $python_packages" >"$PADDOCK_AGENTS/installed"
fi
PATH=$PWD/node_modules/.bin:$PATH
exec vitest run --config vitest.agents.config.ts "$@"
